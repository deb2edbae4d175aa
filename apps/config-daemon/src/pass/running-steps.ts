// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that have begun and not ended. Most end while their pass waits for them. One that hangs in the kernel is left
 * behind: the pass goes on without it, and until it returns, no pass touches what it works on.
 * Usage: `const inHand = createStepsInHand({ nowMs, now }); const entry = inHand.add(step, { pf, words }); entry.end();`
 */
import type { InterfaceStatus } from "@switchyard/api";
import { isBlockedBy, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { describeWait } from "../deadlines/describe-wait.ts";

export interface StepsInHand {
  /** A step begins. */
  add(step: Step, about: StepAbout): EntryInHand;
  /** Steps that passes have left behind. */
  readonly hanging: readonly StepInHand[];
  /** Age of the oldest step in hand, in ms; 0 where there is none. */
  readonly oldestMs: () => number;
  /** Whether the step would touch what a hanging one works on, or needs it. */
  isHeldUp(step: Step): boolean;
  /** Each hanging step in words, oldest first: "set sriov_numvfs 4 on 0000:3b:00.0: no answer for 5 min, since …". */
  describe(): readonly string[];
  /** In how many ms describe() will say something else; undefined while nothing hangs. */
  untilNewsMs(): number | undefined;
}

export interface StepAbout {
  /** The PF as it was observed before the step; absent for steps of no PF. */
  readonly pf?: InterfaceStatus | undefined;
  /** What it does at this moment: "set sriov_numvfs 4 on 0000:3b:00.0". */
  readonly words: () => string;
}

export interface StepInHand extends StepAbout {
  readonly step: Step;
}

export interface EntryInHand {
  /** The pass goes on without it. */
  leave(): void;
  /** The step has ended, well or not. */
  end(): void;
}

export interface StepsInHandDeps {
  readonly nowMs: () => number;
  readonly now: () => Date;
}

export function createStepsInHand({ nowMs, now }: StepsInHandDeps): StepsInHand {
  /** In the order of their start. */
  const entries = new Set<Entry>();
  const hanging = (): readonly Entry[] => [...entries].filter(({ isLeft }) => isLeft);
  const waitOf = ({ sinceMs, since }: Entry) => describeWait(nowMs() - sinceMs, since);

  return {
    add(step, about) {
      const entry: Entry = { ...about, step, sinceMs: nowMs(), since: now(), isLeft: false };
      entries.add(entry);
      return {
        leave: () => {
          entry.isLeft = true;
        },
        end: () => {
          entries.delete(entry);
        },
      };
    },
    get hanging() {
      return hanging();
    },
    oldestMs() {
      const [oldest] = entries;
      return oldest === undefined ? 0 : nowMs() - oldest.sinceMs;
    },
    isHeldUp: (step) => hanging().some((entry) => touchesSame(step, entry.step)),
    describe: () => hanging().map((entry) => `${entry.words()}: ${waitOf(entry).text}`),
    untilNewsMs() {
      const waits = hanging().map((entry) => waitOf(entry).untilNewsMs);
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
  };
}

interface Entry extends StepInHand {
  readonly sinceMs: number;
  readonly since: Date;
  isLeft: boolean;
}

/** One PF is worked on by one step at a time. */
function touchesSame(step: Step, hanging: Step): boolean {
  if ("pciAddress" in step && "pciAddress" in hanging) return step.pciAddress === hanging.pciAddress;
  return isDeepStrictEqual(step, hanging) || isBlockedBy(step, hanging);
}
