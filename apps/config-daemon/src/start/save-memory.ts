// SPDX-License-Identifier: Apache-2.0
/**
 * createSaveMemory returns the function that the daemon calls after its first pass: from then on V8 collects early, and the
 * garbage of the start goes back to the kernel.
 * Usage: `runDaemon({ onFirstPass: createSaveMemory(), … })`.
 */
import { collectEarly, releaseMemoryAfter } from "@switchyard/service/memory";

/** Time after the first success in which the daemon reports and becomes ready. */
const startEndMs = 1_000;

export function createSaveMemory(): () => void {
  const releaseMemory = releaseMemoryAfter(startEndMs);
  return () => {
    collectEarly();
    releaseMemory();
  };
}
