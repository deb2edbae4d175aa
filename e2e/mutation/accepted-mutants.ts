// SPDX-License-Identifier: Apache-2.0
/** Mutants that no test can or should notice, with the reason. The mutation run does not count them as survivors. */
import type { Mutant } from "./mutants.ts";

interface AcceptedMutant extends Pick<Mutant, "file" | "original" | "replacement"> {
  readonly reason: string;
}

export const accepted: readonly AcceptedMutant[] = [
  {
    file: "libs/plan/src/card-mode.ts",
    original: '["ECPF", "EXT_HOST_PF"]',
    replacement: "[]",
    reason: "the texts are compared with those of mstconfig by npm run e2e -- images",
  },
  {
    file: "libs/plan/src/steps/kernel.ts",
    original: '"pfs"',
    replacement: '""',
    reason: 'refusedFor is only compared with "node"',
  },
];
