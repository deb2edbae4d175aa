// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- cli` makes the archive of the command line for npm. */
import { requireFlag } from "../command-line.ts";
import type { Verb } from "../verb.ts";
import { packCli } from "./npm-package.ts";

export const cli: Verb = {
  summary: "make an archive that npm installs by its path: the command line in one file",
  operands: "",
  flags: { output: { value: "DIR", summary: "directory of the archive" } },
  run: async (input) => {
    input.print(await packCli(input.root, requireFlag(input, "output")));
  },
};
