// SPDX-License-Identifier: Apache-2.0
/**
 * createRunningSteps keeps the steps that have started and not ended. Most end while their pass waits for them. A step that
 * hangs in the kernel is marked as hanging: the pass goes on without it, and until it ends, no pass changes its PF.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { isBlockedBy, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { describeWait } from "../deadlines/with-deadline.ts";

export interface RunningSteps {
  /** Adds a step that starts, or other work on the host, which has no step. */
  add(step: Step | undefined, about: StepAbout): RunningEntry;
  /** The hanging steps of plans. */
  readonly hanging: readonly RunningStep[];
  /** Number of hanging entries with and without a step. Each occupies a thread. */
  readonly hangingCount: number;
  /** Age of the oldest entry in ms; 0 if there is no entry. */
  readonly oldestMs: () => number;
  /** Reports whether the step needs a hanging step, or changes the same PF. */
  isBlocked(step: Step): boolean;
  /** Describes each hanging entry, oldest first: "set sriov_numvfs 4 on 0000:3b:00.0: no answer from the kernel for 5 min, since …". */
  describe(): readonly string[];
  /** Milliseconds until the result of describe() changes; undefined if nothing hangs. */
  nextChangeMs(): number | undefined;
}

export interface StepAbout {
  /** The PF as observed before the step; absent if the step has no PF. */
  readonly pf?: InterfaceStatus | undefined;
  /** Returns the present operation of the step: "set sriov_numvfs 4 on 0000:3b:00.0". */
  readonly describe: () => string;
}

export interface RunningStep extends StepAbout {
  readonly step: Step;
}

export interface RunningEntry {
  /** The step missed its deadline. */
  markHanging(): void;
  /** The step succeeded or failed. */
  end(): void;
}

export interface RunningStepsDeps {
  readonly nowMs: () => number;
  readonly now: () => Date;
}

export function createRunningSteps({ nowMs, now }: RunningStepsDeps): RunningSteps {
  /** In the order of their start. */
  const entries = new Set<Entry>();
  const hangingEntries = (): readonly Entry[] => [...entries].filter(({ isHanging }) => isHanging);
  const hangingSteps = (): readonly RunningStep[] =>
    hangingEntries().flatMap(({ step, ...entry }) => (step === undefined ? [] : [{ ...entry, step }]));
  const waitOf = ({ sinceMs, since }: Entry) => describeWait(nowMs() - sinceMs, since);

  return {
    add(step, about) {
      const entry: Entry = { ...about, step, sinceMs: nowMs(), since: now(), isHanging: false };
      entries.add(entry);
      return {
        markHanging: () => {
          entry.isHanging = true;
        },
        end: () => {
          entries.delete(entry);
        },
      };
    },
    get hanging() {
      return hangingSteps();
    },
    get hangingCount() {
      return hangingEntries().length;
    },
    oldestMs() {
      const [oldest] = entries;
      return oldest === undefined ? 0 : nowMs() - oldest.sinceMs;
    },
    isBlocked: (step) => hangingSteps().some((entry) => isInConflict(step, entry.step)),
    describe: () => hangingEntries().map((entry) => `${entry.describe()}: ${waitOf(entry).text}`),
    nextChangeMs() {
      const waits = hangingEntries().map((entry) => waitOf(entry).nextChangeMs);
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
  };
}

interface Entry extends StepAbout {
  readonly step: Step | undefined;
  readonly sinceMs: number;
  readonly since: Date;
  isHanging: boolean;
}

/** Only one step at a time changes a PF. */
function isInConflict(step: Step, hanging: Step): boolean {
  if ("pciAddress" in step && "pciAddress" in hanging) return step.pciAddress === hanging.pciAddress;
  return isDeepStrictEqual(step, hanging) || isBlockedBy(step, hanging);
}
