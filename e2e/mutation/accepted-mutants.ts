// SPDX-License-Identifier: Apache-2.0
/** Mutants that no test can or should notice, with the reason. The mutation run does not count them as survivors. */
import type { Mutant } from "./mutants.ts";

interface AcceptedMutant extends Pick<Mutant, "file" | "original" | "replacement"> {
  readonly reason: string;
}

export const accepted: readonly AcceptedMutant[] = [];
