// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- chart` packages the Helm chart, and pushes and signs it if asked to. */
import { requireFlag, type Verb } from "../command-line.ts";
import { sourceEpoch } from "../archive.ts";
import { digestOf } from "../images/digest-of.ts";
import { signFlags, signWithOrigin } from "../sign/verb.ts";
import { packageChart, pushChart } from "./publish-chart.ts";

export const chart: Verb = {
  summary: "package the Helm chart",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the archive" },
    pin: { summary: "write the digests that the registry states for the images of the version" },
    push: { value: "REPOSITORY", summary: "also push it to an OCI registry: ghcr.io/switchyard/charts" },
    sign: { summary: "also sign what was pushed" },
    ...signFlags,
  },
  run: async (input) => {
    const { root, flags, print } = input;
    const archive = await packageChart(root, {
      output: requireFlag(input, "output"),
      epoch: await sourceEpoch(root, input.env),
      digestOf: flags["pin"] === "true" ? digestOf : undefined,
    });
    print(archive);
    const { push: repository } = flags;
    if (repository === undefined) return;
    const reference = await pushChart(archive, repository);
    print(`oci://${reference}`);
    if (flags["sign"] === "true") await signWithOrigin(input, { reference, sboms: [] });
  },
};
