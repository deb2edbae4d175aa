// SPDX-License-Identifier: Apache-2.0
/**
 * runPhase configures the node in one phase of its boot: it observes, plans and applies as the daemon does, from a file and
 * without an API server (sriov-operator.md F.11). The first phase creates VFs, before the network starts, and leaves them
 * without a driver, so no network service uses them. The second phase does everything else before the kubelet starts, and
 * then configures the AF_XDP devices, whatever became of the PFs. It
 * does not depend on the first, so a failure of the first is repaired if possible. No phase takes a PF that the host uses: the
 * file says what the daemon knows about that, because the routes of the host can appear late.
 */
import { bootConfigPath, parsePciAddress, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, type Step } from "@switchyard/plan";
import { sriovUse } from "@switchyard/policy";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import { createConnectivityGuard } from "../guard/connectivity-guard.ts";
import { createUndo } from "../pass/apply-steps.ts";
import { configureOffline } from "../pass/configure-offline.ts";
import { createRunningSteps } from "../pass/running-steps.ts";
import { createVhostModules } from "../pass/vhost-modules.ts";
import { defaultMaxPfs } from "../start/resources.ts";
import { createUdevRules } from "../udev/keep-rules.ts";
import { digestOf, parseBootConfig, type ParsedBootConfig } from "../boot-files/boot-config.ts";
import { bootResultPath, formatBootResult, type BootPhase, type BootResult } from "../boot-files/boot-result.ts";
import { configureAfxdpAtBoot } from "./configure-afxdp-at-boot.ts";
import { firstPhaseSteps, secondPhaseSteps } from "../steps/step-phases.ts";
import { waitForPfs } from "./wait-for-pfs.ts";

export interface PhaseOptions {
  readonly phase: BootPhase;
  readonly host: Host;
  /** Takes the lock of the node. */
  readonly lock: () => Promise<AsyncDisposable>;
  readonly timing: StepTiming;
  readonly maxHanging: number;
  /** Time after which the phase ends, whatever still runs. */
  readonly limitMs: number;
  /** Writes a line to the journal. */
  readonly log: (line: string) => void;
  /** Ends the phase after the steps that are running. */
  readonly signal: AbortSignal;
}

/** How long the phase waits until the drivers of the PFs have created their interfaces, and udev has named them. */
const pfsLimitMs = 60_000;

/** Resolves with the exit code: 0 if the phase did all that it should do. Never rejects. */
export async function runPhase(options: PhaseOptions): Promise<number> {
  const { host, phase, log, timing, limitMs } = options;
  const result = { configDigest: "", bootID: "" };
  const told = { pfs: false };

  /** Reports whether nothing failed. */
  async function work(): Promise<boolean> {
    try {
      await using _lock = await options.lock();
      result.bootID = await host.boot.readBootId();
      const { error, config } = await configurePfs();
      const areDone = await tell(error);
      return phase === "post" ? (await configureAfxdp(config)) && areDone : areDone;
    } catch (error) {
      return await tell(textOf(error));
    }
  }

  async function configurePfs(): Promise<PfsAtBoot> {
    let config: ParsedBootConfig | undefined;
    try {
      const text = await host.files.readText(bootConfigPath);
      if (text === undefined) return { error: undefined, config };
      result.configDigest = digestOf(text);
      if (phase === "pre") await writeResult({ ...result, syncStatus: "InProgress", lastSyncError: "" });
      const parsed = await parseBootConfig(text);
      if (!parsed.ok) return { error: `${bootConfigPath}: ${parsed.error}`, config };
      config = parsed.value;
      return { error: await configure(config, options), config };
    } catch (error) {
      return { error: textOf(error), config };
    }
  }

  async function configureAfxdp(config: ParsedBootConfig | undefined): Promise<boolean> {
    const error = await configureAfxdpAtBoot({
      host,
      timing,
      log,
      signal: options.signal,
      bootId: result.bootID,
      waitMs: pfsLimitMs,
      maxPfs: config?.maxPfs ?? defaultMaxPfs,
      sriovUse: sriovUse({ spec: config?.spec }),
      apiServerAddresses: config?.apiServerAddresses ?? [],
    });
    return error === undefined || error === "";
  }

  /** Writes what became of the PFs, and reports whether nothing failed. */
  async function tell(error: string | undefined): Promise<boolean> {
    told.pfs = true;
    if (error === undefined) {
      log(`${phase}: nothing to do: ${bootConfigPath} does not exist`);
      return true;
    }
    const hasFailed = error !== "";
    log(hasFailed ? `${phase}: failed: ${error}` : `${phase}: done`);
    const syncStatus = hasFailed ? "Failed" : phase === "post" ? "Succeeded" : "InProgress";
    await writeResult({ ...result, syncStatus, lastSyncError: hasFailed ? `${phase}: ${error}` : "" });
    return !hasFailed;
  }

  async function writeResult(next: BootResult): Promise<void> {
    try {
      await host.files.writeText(bootResultPath, formatBootResult(next));
    } catch (error) {
      log(`result not written: ${String(error)}`); // The daemon sees the same on the host itself.
    }
  }

  const working = work();
  if (await endsWithin(working, limitMs, timing)) return (await working) ? 0 : 1;
  const message = `not finished after ${limitMs / 1000} s`;
  if (told.pfs) log(`${phase}: AF_XDP devices ${message}`);
  else await tell(message);
  return 1;
}

interface PfsAtBoot {
  /** One line; "" after a success, undefined if there is no configuration. */
  readonly error: string | undefined;
  /** Absent if it cannot be read. */
  readonly config: ParsedBootConfig | undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves with an error in one line, "" if there is none. Rejects with HostError. */
async function configure(config: ParsedBootConfig, options: PhaseOptions): Promise<string> {
  const { host, phase, timing, signal, log } = options;
  const { spec } = config;
  const now = () => new Date();
  const guard = createConnectivityGuard(host, {
    timing,
    now,
    applySteps: createUndo({
      host,
      timing,
      runningSteps: createRunningSteps({ nowMs: () => timing.nowMs(), now }),
      maxPfs: config.maxPfs ?? defaultMaxPfs,
      maxHanging: options.maxHanging,
    }),
    // The daemon has recorded the change and its time limit before the reboot.
    timeoutMs: 0,
    apiServer: () => Promise.resolve({ addresses: [], port: undefined }),
    warn(fields, message) {
      log(`${message}: ${JSON.stringify(fields)}`);
    },
  });
  await waitForPfs(spec, { host, timing, signal, limitMs: pfsLimitMs, log });
  const created = new Set<string>();
  const error = await configureOffline(spec, {
    host,
    timing,
    signal,
    maxHanging: options.maxHanging,
    maxPfs: config.maxPfs ?? defaultMaxPfs,
    hostNetwork: {
      apiServerAddresses: () => Promise.resolve(config.apiServerAddresses),
      knownHostUse: config.hostUse,
      isAtBoot: true,
    },
    firmwareReason: "only the running config daemon changes them",
    loadVhostModules: (deps) => createVhostModules(host, deps),
    keepUdevRules: (deps) => createUdevRules(host, deps),
    guard: { addTo: guard.addTo },
    limit: phase === "pre" ? firstPhaseSteps : secondPhaseSteps,
    onStep(step, failure) {
      log(failure === undefined ? describeStep(step) : `failed: ${failure.message}`);
      if (failure === undefined && createsVfs(step)) created.add(step.pciAddress);
    },
  });
  if (phase === "pre") await releaseNewVfs(spec, created, host, log);
  const undone = phase === "post" ? await guard.settle(signal) : [];
  return [...config.problems, error, ...undone].filter((text) => text !== "").join("; ");
}

function createsVfs(step: Step): step is Extract<Step, { kind: "set-num-vfs" }> {
  return step.kind === "set-num-vfs" && step.to > 0;
}

/**
 * releaseNewVfs unbinds the drivers of VFs that the first phase of a boot has created, as the Go operator does
 * (sriov-operator.md F.6): a network service that starts next must not find their interfaces. The second phase binds them.
 * VFs that existed before are not touched: pods may use them if an administrator starts the phase on a running node.
 */
async function releaseNewVfs(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  created: ReadonlySet<string>,
  { sriov }: Pick<Host, "sriov">,
  log: (line: string) => void,
): Promise<void> {
  for (const { pciAddress, externallyManaged } of interfaces) {
    const pf = parsePciAddress(pciAddress);
    if (!pf.ok || externallyManaged === true || !created.has(pciAddress)) continue;
    const facts = await sriov.readPf(pf.value);
    for (const vf of facts?.sriov?.vfs ?? []) {
      if (vf.driver === undefined) continue;
      try {
        await sriov.unbindDriver(vf.pciAddress);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        log(error.message); // The second phase configures the VF with or without this.
      }
    }
  }
}
