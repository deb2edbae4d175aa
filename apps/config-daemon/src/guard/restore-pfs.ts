// SPDX-License-Identifier: Apache-2.0
/** restorePfs gives PFs the state that they had before a change. It plans from what it finds, so it can be repeated after a kill. */
import { defined } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { planRestore, type Step } from "@switchyard/plan";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import { observeNode } from "../observe/observe.ts";
import { applySteps } from "../pass/apply-steps.ts";
import type { RunningSteps } from "../pass/running-steps.ts";
import { createStepContext } from "../steps/step-context.ts";
import { restoreVfs } from "../steps/vfs-before.ts";
import type { GuardedPf } from "./guard-record.ts";

export interface RestoreDeps {
  readonly timing: StepTiming;
  readonly maxPfs: number;
  readonly maxHanging: number;
  readonly runningSteps: RunningSteps;
}

/** What became of one PF. */
export interface Restored {
  readonly done: readonly Step[];
  /** Absent if everything was restored. */
  readonly error?: string;
}

/** Resolves with one result for each PF, by its PCI address. Rejects with HostError if the host cannot be read. */
export async function restorePfs(
  host: Host,
  pfs: readonly GuardedPf[],
  deps: RestoreDeps,
): Promise<ReadonlyMap<string, Restored>> {
  const results = new Map<string, Restored>();
  for (const pf of pfs) results.set(pf.pciAddress, await restorePf(host, pf, deps));
  return results;
}

async function restorePf(host: Host, before: GuardedPf, deps: RestoreDeps): Promise<Restored> {
  const { timing } = deps;
  // A stop of the daemon does not end it: the node may have no network.
  const signal = new AbortController().signal;
  const { interfaces, bridges, openVSwitch } = await observeNode(host);
  const steps = planRestore(before, { interfaces, bridges, ...defined({ openVSwitch }) });
  const { done, failures } = await applySteps(steps, {
    ...deps,
    host,
    signal,
    found: interfaces,
    beforeReboot: () => Promise.resolve(),
    onStep: () => undefined,
    onLateEnd: () => undefined,
  });
  const errors = failures.map(({ message }) => message);
  if (failures.length === 0 && done.length < steps.length) errors.push("a step hangs");
  if (before.vfs.length > 0 && done.some(({ kind }) => kind === "set-num-vfs" || kind === "set-eswitch-mode")) {
    try {
      const context = createStepContext(host, before.pciAddress, timing, signal);
      const isDone = await endsWithin(restoreVfs({ vfs: before.vfs }, context), timing.stepDeadlineMs, timing);
      if (!isDone) errors.push("the drivers of the VFs hang");
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      errors.push(thrown.message);
    }
  }
  return { done, ...(errors.length > 0 && { error: errors.join("; ") }) };
}
