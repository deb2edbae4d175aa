// SPDX-License-Identifier: Apache-2.0
/** restorePfs gives PFs the state that they had before a change. It plans from what it finds, so it can be repeated after a kill. */
import { defined, type InterfaceStatus } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { planRestore, type Step } from "@switchyard/plan";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import { observeNode } from "../observe/observe.ts";
import { createStepContext } from "../steps/step-context.ts";
import { restoreVfs, withVfsAgain } from "../steps/vfs-before.ts";
import type { GuardedPf } from "./guard-record.ts";

export interface RestoreDeps {
  readonly timing: StepTiming;
  /** Runs the steps, also if the daemon stops meanwhile. `found` are the PFs as observed before the steps. */
  readonly applySteps: (
    steps: readonly Step[],
    found: readonly InterfaceStatus[],
  ) => Promise<{ readonly done: readonly Step[]; readonly failures: readonly { readonly message: string }[] }>;
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
  const { timing, applySteps } = deps;
  const { interfaces, bridges, openVSwitch } = await observeNode(host);
  const steps = planRestore(before, { interfaces, bridges, ...defined({ openVSwitch }) });
  const { done, failures } = await applySteps(steps, interfaces);
  const errors = failures.map(({ message }) => message);
  if (failures.length === 0 && done.length < steps.length) errors.push("a step hangs");
  // A daemon that was killed after the steps has left new VFs.
  const pf = interfaces.find(({ pciAddress }) => pciAddress === before.pciAddress);
  const isNew = done.some(({ kind }) => kind === "set-num-vfs" || kind === "set-eswitch-mode");
  if (pf !== undefined && before.vfs.length > 0 && (isNew || !hasVfs(pf, before))) {
    try {
      const isDone = await endsWithin(restoreVfsOf(host, before, timing), timing.stepDeadlineMs, timing);
      if (!isDone) errors.push("the drivers of the VFs hang");
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      errors.push(thrown.message);
    }
  }
  return { done, ...(errors.length > 0 && { error: errors.join("; ") }) };
}

/** Reports whether the VFs have the drivers and addresses that they had. */
function hasVfs({ Vfs: vfs = [] }: InterfaceStatus, before: GuardedPf): boolean {
  return before.vfs.every(({ vfId, driver, mac }) => {
    const present = vfs.find(({ vfID }) => vfID === vfId);
    return present?.driver === driver && (mac === undefined || present?.adminMac === mac);
  });
}

/** The record says afterwards that the addresses are assigned. Rejects with HostError. */
async function restoreVfsOf(host: Host, { pciAddress, numVfs, vfs }: GuardedPf, timing: StepTiming): Promise<void> {
  const context = createStepContext(host, pciAddress, { timing, signal: new AbortController().signal });
  await restoreVfs({ vfs }, context);
  const record = (await host.records.list()).get(context.pf);
  if (record !== undefined) await host.records.save(context.pf, withVfsAgain(record, { count: numVfs, vfs }));
}
