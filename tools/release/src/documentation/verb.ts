// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- documentation` adds this version to the documentation site. */
import { requireFlag } from "../command-line.ts";
import { sourceEpoch } from "../source-epoch.ts";
import type { Verb } from "../verb.ts";
import { buildDocumentation } from "./build-documentation.ts";

export const documentation: Verb = {
  summary: "make the documentation site with the pages of all versions, and its archive",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the site and its archive" },
    previous: { value: "FILE", summary: "archive of the last release, whose versions stay (default: none)" },
    base: { value: "PATH", summary: 'path of the site on its server (default "/")' },
  },
  run: async (input) => {
    const { root, flags, env, print } = input;
    const { site, archive } = await buildDocumentation(root, {
      output: requireFlag(input, "output"),
      previous: flags["previous"],
      base: flags["base"] ?? "/",
      epoch: await sourceEpoch(root, env),
    });
    for (const path of [site, archive]) print(path);
  },
};
