// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- krew` makes the kubectl plugin. */
import { requireFlag } from "../command-line.ts";
import { repositoryUrl } from "../product.ts";
import { readVersion } from "../version/product-version.ts";
import { sourceEpoch } from "../source-epoch.ts";
import type { Verb } from "../verb.ts";
import { buildPlugin } from "./plugin.ts";

export const krew: Verb = {
  summary: "make the kubectl plugin: archives, and the manifest for krew's index",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the files" },
    "download-url": { value: "URL", summary: "where the archives can be downloaded (default: the GitHub release)" },
  },
  run: async (input) => {
    const { root, flags, env, print } = input;
    const { manifest, archives } = await buildPlugin(root, {
      output: requireFlag(input, "output"),
      downloadUrl: flags["download-url"] ?? `${repositoryUrl}/releases/download/v${await readVersion(root)}`,
      epoch: await sourceEpoch(root, env),
    });
    for (const file of [...archives, manifest]) print(file);
  },
};
