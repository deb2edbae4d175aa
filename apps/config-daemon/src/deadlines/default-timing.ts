// SPDX-License-Identifier: Apache-2.0
/** The clock of this process, and the time limits of steps in the daemon and in its commands. */
import { sleep, systemClock } from "@switchyard/kube";
import type { StepTiming } from "../steps/step-context.ts";

export const defaultTiming: StepTiming = {
  stepDeadlineMs: 2 * 60_000,
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => systemClock.nowMs(),
  sleep: (ms, signal) => sleep(systemClock, ms, signal).catch(() => undefined),
};
