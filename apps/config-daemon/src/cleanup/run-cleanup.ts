// SPDX-License-Identifier: Apache-2.0
/**
 * runCleanup gives the host back: it resets the PFs and AF_XDP devices that Switchyard configured, removes their records, rules,
 * bridges and XDP programs, what the plugins of upstream left, and everything in owned-parts.ts. It needs no API server, and touches
 * nothing without evidence that it is Switchyard's or their leftover.
 */
import { defined, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, isPfStep, ownedInStatus, plan, type Plan } from "@switchyard/plan";
import type { ReadKubeletDevices } from "../kubelet/kubelet.ts";
import { showPluginLeftovers } from "../afxdp/plugin-leftovers/plugin-leftovers.ts";
import { observeNode } from "../observe/observe.ts";
import { configureOffline } from "../pass/configure-offline.ts";
import { defaultMaxPfs } from "../start/resources.ts";
import type { StepTiming } from "../deadlines/with-deadline.ts";
import { ownedParts } from "./owned-parts.ts";
import { resetAfxdp, showAfxdpReset } from "./reset-afxdp.ts";
import { resetPluginLeftovers, resetXdp, showXdpReset } from "./reset-xdp.ts";

export interface CleanupOptions {
  readonly host: Host;
  /** Leaves VFs, PFs and AF_XDP devices as they are, and removes only their records. */
  readonly keepsVfs: boolean;
  /** Prints what it would do, and changes nothing. */
  readonly isDryRun: boolean;
  /** Asks the kubelet for the AF_XDP devices of pods. */
  readonly readKubelet: ReadKubeletDevices;
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
  const { interfaces, system, bridges, openVSwitch } = await observeNode(host);
  const observed = { interfaces, system, bridges, ...defined({ openVSwitch }) };
  const next = plan(await emptySpec(host), observed, ownedInStatus(observed));
  lines.push(...(await showXdpReset({ host, keepsVfs })));
  lines.push(...(await showPluginLeftovers(host, keepsVfs)));
  lines.push(...(await showAfxdpReset({ host, keepsVfs })));
  lines.push(...limitedTo(next, keepsVfs).steps.map(describeStep));
  lines.push(...(await recordsWithoutPf(host)).map((pf) => `remove the record of ${pf}, which the node does not have`));
  for (const part of ownedParts) lines.push(...(await part.find(host)));
  for (const line of lines) print(`would ${line}`);
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

  for (const reset of [resetXdp, resetPluginLeftovers, resetAfxdp, resetPfs]) {
    await attempt(async () => {
      const error = await reset(options);
      if (error !== "") {
        exitCode = 1;
        fail(error);
      }
      return [];
    });
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
  return configureOffline(await emptySpec(host), {
    host,
    timing,
    maxHanging,
    maxPfs: defaultMaxPfs,
    signal,
    firmwareReason: "a cleanup does not change them",
    keepUdevRules: () => () => Promise.resolve([]), // those of released PFs are removed with them
    loadVhostModules: () => () => Promise.resolve([]),
    limit: (next) => limitedTo(next, keepsVfs),
    onStep(step, failure) {
      if (failure === undefined) print(describeStep(step));
    },
  });
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
async function emptySpec({ records }: Host): Promise<SriovNetworkNodeStateSpec> {
  return { interfaces: [], unselected: [...(await records.list()).keys()], bridges: { ovs: [], linux: [] } };
}

async function recordsWithoutPf({ records, sriov }: Host) {
  const present = new Set((await sriov.listPfs()).map(({ pciAddress }) => pciAddress));
  return [...(await records.list()).keys()].filter((pf) => !present.has(pf));
}
