// SPDX-License-Identifier: Apache-2.0
/**
 * runCleanup gives the host back: it resets the PFs that Switchyard configured, removes their records, rules and bridges, and
 * everything in owned-parts.ts. It needs no API server, and touches nothing without evidence that it is Switchyard's.
 * Usage: `process.exit(await runCleanup({ host, keepsVfs: false, isDryRun: true, … }));`
 */
import { defined, ok, type SriovNetworkNodeState } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, isMellanox, isPfStep, ownedInStatus, plan, type Plan } from "@switchyard/plan";
import { createWithDeadline } from "../deadlines/with-deadline.ts";
import { observe } from "../observe/observe.ts";
import type { FirmwareReader } from "../observe/firmware-reader.ts";
import { createObserver } from "../observe/observer.ts";
import { configureNode } from "../pass/configure-node.ts";
import { createRunningSteps } from "../pass/running-steps.ts";
import { errorOf, type Phase } from "../report/phase.ts";
import type { StepTiming } from "../steps/step-context.ts";
import { ownedParts } from "./owned-parts.ts";

export interface CleanupOptions {
  readonly host: Host;
  /** Leaves VFs and PFs as they are, and removes only the records of PFs. */
  readonly keepsVfs: boolean;
  /** Prints what it would do, and changes nothing. */
  readonly isDryRun: boolean;
  readonly timing: StepTiming;
  readonly maxHanging: number;
  /** Prints an action. */
  readonly print: (line: string) => void;
  /** Prints a failure. */
  readonly fail: (line: string) => void;
  /** Ends after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Resolves with the exit code: 0 if nothing of Switchyard is left, 1 if something could not be removed. */
export async function runCleanup(options: CleanupOptions): Promise<number> {
  try {
    return options.isDryRun ? await showCleanup(options) : await cleanUp(options);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    options.fail(thrown.message);
    return 1;
  }
}

async function showCleanup({ host, keepsVfs, print }: CleanupOptions): Promise<number> {
  const lines: string[] = [];
  const { bootId: _bootId, openVSwitch, ...found } = await observe(host);
  const observed = { ...found, ...defined({ openVSwitch }) };
  const { spec = {} } = await emptyState(host);
  const next = plan(spec, observed, ownedInStatus(observed));
  lines.push(...limitedTo(next, keepsVfs).steps.map(describeStep));
  lines.push(...(await recordsWithoutPf(host)).map((pf) => `remove the record of ${pf}, which the node does not have`));
  for (const part of ownedParts) lines.push(...(await part.find(host)));
  for (const line of lines) print(line);
  if (lines.length === 0) print("nothing to do");
  return 0;
}

async function cleanUp(options: CleanupOptions): Promise<number> {
  const { host, print, fail } = options;
  let exitCode = 0;

  /** A part that fails does not stop the others. */
  async function attempt(act: () => Promise<readonly string[]>): Promise<void> {
    try {
      for (const line of await act()) print(line);
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      exitCode = 1;
      fail(thrown.message);
    }
  }

  const error = await resetPfs(options);
  if (error !== "") {
    exitCode = 1;
    fail(error);
  }
  for (const pf of await recordsWithoutPf(host)) {
    await attempt(async () => {
      await host.records.remove(pf);
      return [`remove the record of ${pf}, which the node does not have`];
    });
  }
  for (const part of ownedParts) {
    await attempt(async () => {
      const lines = await part.find(host);
      if (lines.length > 0) await part.remove(host);
      return lines;
    });
  }
  return exitCode;
}

/** Runs one pass with a spec that selects nothing. Resolves with an error in one line; "" if there is none. */
async function resetPfs(options: CleanupOptions): Promise<string> {
  const { host, timing, maxHanging, keepsVfs, print, signal } = options;
  const now = () => new Date();
  let last: Phase | undefined;
  await configureNode(
    await emptyState(host),
    {
      ...{ host, timing, maxHanging, maxPfs: 4 },
      runningSteps: createRunningSteps({ nowMs: () => timing.nowMs(), now }),
      observeHost: createObserver(host, { timing, now, firmware: firmwareIsLeft }),
      withRecordDeadline: createWithDeadline(host, { timing, now }),
      keepUdevRules: () => Promise.resolve([]), // those of released PFs are removed with them
      loadVhostModules: () => Promise.resolve([]),
      beginPass: () => Promise.resolve(ok((next: Plan) => limitedTo(next, keepsVfs))),
      isDrainDisabled: () => true, // no API server answers; the administrator decides when to clean up
      requestDrain: () => Promise.resolve(),
      report(next) {
        last = next;
        return Promise.resolve();
      },
      onPlan: () => undefined,
      onApplied: () => undefined,
      onLateEnd: () => undefined,
      onStep(step, failure) {
        if (failure === undefined) print(describeStep(step));
      },
    },
    signal,
  );
  return last === undefined ? "" : errorOf(last);
}

/** The steps of PFs that --keep-vfs leaves. */
const keptSteps: ReadonlySet<string> = new Set(["release-pf", "remove-ovs-bridge", "remove-linux-bridge"]);

/** A cleanup never reboots. With --keep-vfs, PFs are only released, and their bridges removed. */
function limitedTo(next: Plan, keepsVfs: boolean): Plan {
  const steps = next.steps.filter((step) => {
    if (step.kind === "reboot" || step.kind === "forget-reboots") return false;
    return !keepsVfs || !isPfStep(step) || keptSteps.has(step.kind);
  });
  return { ...next, steps };
}

/** A spec in which no policy selects the PFs of the records. */
async function emptyState(host: Host): Promise<SriovNetworkNodeState> {
  const unselected = [...(await host.records.list()).keys()];
  const spec = { interfaces: [], unselected, bridges: { ovs: [], linux: [] } };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState", metadata: { name: "" }, spec };
}

async function recordsWithoutPf({ records, sriov }: Host) {
  const present = new Set((await sriov.listPfs()).map(({ pciAddress }) => pciAddress));
  return [...(await records.list()).keys()].filter((pf) => !present.has(pf));
}

/** A change of firmware settings takes effect at the next boot only, and a cleanup must not depend on vendor programs. */
const firmwareIsLeft: Pick<FirmwareReader, "addTo"> = {
  addTo(pfs) {
    const firmware = { unavailable: "a cleanup does not change them" };
    return Promise.resolve(pfs.map((pf) => (isMellanox(pf) ? { ...pf, firmware } : pf)));
  },
};
