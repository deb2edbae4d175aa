// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- headlamp` makes the plugin for Headlamp. */
import { requireFlag } from "../command-line.ts";
import { sourceEpoch } from "../source-epoch.ts";
import type { Verb } from "../verb.ts";
import { buildHeadlampPlugin } from "./build-plugin.ts";

export const headlamp: Verb = {
  summary: "make the plugin for Headlamp",
  operands: "",
  flags: { output: { value: "DIR", summary: "directory of the archive" } },
  run: async (input) => {
    const { root, env, print } = input;
    const options = { output: requireFlag(input, "output"), epoch: await sourceEpoch(root, env) };
    const { archive, sha256 } = await buildHeadlampPlugin(root, options);
    print(`${archive} sha256:${sha256}`);
  },
};
