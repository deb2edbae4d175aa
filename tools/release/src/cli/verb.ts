// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- cli` makes the npm package of the command line. */
import { requireFlag } from "../command-line.ts";
import type { Verb } from "../verb.ts";
import { packCli } from "./npm-package.ts";

export const cli: Verb = {
  summary: "make the npm package switchyard: the command line in one file",
  operands: "",
  flags: { output: { value: "DIR", summary: "directory of the archive" } },
  run: async (input) => {
    input.print(await packCli(input.root, requireFlag(input, "output")));
  },
};
