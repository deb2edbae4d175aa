// SPDX-License-Identifier: Apache-2.0
/** The clock of this process, and the time limits of steps in the daemon and in its commands. */
import { setTimeout as delay } from "node:timers/promises";
import type { StepTiming } from "../steps/step-context.ts";

export const defaultTiming: StepTiming = {
  stepDeadlineMs: 2 * 60_000,
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
