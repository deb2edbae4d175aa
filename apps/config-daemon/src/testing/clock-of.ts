// SPDX-License-Identifier: Apache-2.0
/** clockOf makes a Clock of a manual clock. */
import type { createManualClock } from "@switchyard/host/testing";
import type { Clock } from "@switchyard/kube";

export function clockOf(time: ReturnType<typeof createManualClock>): Clock {
  return {
    nowMs: () => time.nowMs(),
    after(delayMs, run) {
      let isCancelled = false;
      time.later(delayMs, () => {
        if (!isCancelled) run();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
}
