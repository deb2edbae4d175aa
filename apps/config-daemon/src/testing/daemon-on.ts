// SPDX-License-Identifier: Apache-2.0
/** daemonOn runs passes of the daemon on a fake kernel, without an API server. */
import { ok, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { systemKernelClock } from "@switchyard/host/testing";
import type { Step } from "@switchyard/plan";
import { formatVfSet, type FirmwarePolicy } from "@switchyard/policy";
import { setTimeout as delay } from "node:timers/promises";
import { createWithDeadline } from "../deadlines/with-deadline.ts";
import { createConnectivityGuard, type ConnectivityGuard } from "../guard/connectivity-guard.ts";
import { createFirmwareReader } from "../observe/firmware/firmware-reader.ts";
import { createMissingInterfaces } from "../observe/missing-interfaces.ts";
import type { ReadHolders, ReadOffered } from "../kubelet/kubelet.ts";
import { createObserver } from "../observe/observer.ts";
import { createVfHolders } from "../observe/vf-holders.ts";
import { createUndo } from "../pass/apply-steps.ts";
import { configureNode, type BeginPass } from "../pass/configure-node.ts";
import type { PassResult } from "../pass/run-rounds.ts";
import { requestOf } from "../pass/drain-request.ts";
import { createRefusedChanges } from "../pass/refused-changes.ts";
import { createRunningSteps } from "../pass/running-steps.ts";
import { createVhostModules } from "../pass/vhost-modules.ts";
import { createUncleanVfs } from "../unclean-vfs/unclean-vfs.ts";
import { createUdevRules } from "../udev/keep-rules.ts";
import { errorOf, type Phase } from "../report/phase.ts";
import type { Platform } from "../virtual/platform.ts";
import { createVirtualNics } from "../virtual/virtual-nics.ts";
import { statusOf, type Found } from "../report/status-of.ts";

export interface DaemonTestOptions {
  /** The operator drains the node on request; by default drains are disabled. */
  readonly drains?: boolean;
  /** AF_XDP devices need a drain. */
  readonly isDrainNeededElsewhere?: () => boolean;
  /** Plays the kubelet: which devices pods have. Without it, the kubelet cannot be asked. */
  readonly readHolders?: ReadHolders;
  /** Plays the kubelet, too: which devices plugins offer; none by default. */
  readonly readOffered?: ReadOffered;
  /** Time limit of interfaces, representors and VFs; 200 by default. */
  readonly linkTimeoutMs?: number;
  /** The clock of refused changes and of missing interfaces; that of the system by default. */
  readonly nowMs?: () => number;
  /** The wall clock; that of the system by default. */
  readonly now?: () => Date;
  /** Called when a step has ended. */
  readonly onStep?: (step: Step) => void;
  /** Set for a node in systemd mode. */
  readonly beginPass?: (guard: ConnectivityGuard) => BeginPass;
  /** The API server has no address by default. */
  readonly apiServerAddresses?: () => Promise<readonly string[]>;
  /** Time that the network has to work again after a change; by default, changes are not guarded. */
  readonly connectivityTimeoutMs?: number;
  /** By default, firmware can be changed and cards can be reset. */
  readonly firmwarePolicy?: FirmwarePolicy;
  /** The node is bare metal by default. */
  readonly virtual?: { readonly platform: Platform; readonly metadataUrl: string };
}

export type { PassResult };

const never = new AbortController().signal;

/** Runs passes and collects their reports and requests. */
export function daemonOn(host: Host, options: DaemonTestOptions = {}) {
  const { drains = false, onStep = () => undefined } = options;
  const { virtual } = options;
  const { firmwarePolicy = { isDisabled: false, isResetAllowed: true } } = options;
  const phases: Phase[] = [];
  const shown: Found[] = [];
  const boots: (string | undefined)[] = [];
  const requests: string[] = [];
  const requestedVfs: (string | undefined)[] = [];
  const planned: number[] = [];
  const applied: boolean[] = [];
  const { nowMs } = systemKernelClock;
  // The deadlines of a killed daemon must not keep the process alive.
  const sleep = (ms: number, signal: AbortSignal) =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const timing = {
    stepDeadlineMs: 60_000,
    linkTimeoutMs: options.linkTimeoutMs ?? 200,
    udevTimeoutMs: 1_000,
    nowMs,
    sleep,
  };
  const now = () => new Date();
  const firmware = createFirmwareReader(host, { timing, policy: () => firmwarePolicy, wake: () => undefined });
  const virtualNics = createVirtualNics(host, {
    timing,
    wake: () => undefined,
    metadataUrl: virtual?.metadataUrl ?? "",
    readPlatform: () => Promise.resolve(virtual?.platform ?? "baremetal"),
  });
  const runningSteps = createRunningSteps({ nowMs, now });
  const guard = createConnectivityGuard(host, {
    timing,
    now,
    applySteps: createUndo({ host, timing, runningSteps, maxPfs: 4, maxHanging: 4 }),
    timeoutMs: options.connectivityTimeoutMs ?? 0,
    apiServer: async () => ({ addresses: (await options.apiServerAddresses?.()) ?? [], port: 6443 }),
    warn: () => undefined,
  });
  const observeHost = createObserver(host, {
    timing,
    now,
    firmware,
    virtualNics,
    apiServerAddresses: options.apiServerAddresses,
  });
  const withRecordDeadline = createWithDeadline(host, { timing, now });
  const refusedChanges = createRefusedChanges({ nowMs: options.nowMs ?? nowMs });
  const missingInterfaces =
    options.readHolders &&
    createMissingInterfaces({
      readHolders: options.readHolders,
      nowMs: options.nowMs ?? nowMs,
      graceMs: timing.linkTimeoutMs,
    });
  const vfHolders =
    options.readHolders &&
    createVfHolders({ readHolders: options.readHolders, now: options.now ?? now, signal: never });
  const uncleanVfs =
    options.readHolders &&
    createUncleanVfs({
      kubelet: {
        readHolders: options.readHolders,
        readOffered: options.readOffered ?? (() => Promise.resolve(ok(new Set<string>()))),
      },
      nowMs: options.nowMs ?? nowMs,
    });
  const keepUdevRules = createUdevRules(host, { timing, now });
  const lastPhase = (): Phase => phases.at(-1) ?? { kind: "settled", problems: [] };
  return {
    phases,
    /** The number of steps of each plan, and whether all steps of each applied plan were done. */
    planned,
    applied,
    requests,
    /** The VFs of each request; undefined for one of the node. */
    requestedVfs,
    /** The error in the last report. */
    error: () => phases.slice(-1).map(errorOf).join(),
    /** The system settings of the last report. */
    system: () => shown.at(-1)?.system,
    /** The interfaces of the last report. */
    shown: () => shown.at(-1)?.interfaces ?? [],
    /** The last report. */
    last: () => shown.at(-1),
    /** The status of the node state after the last report. */
    status: () => statusOf({ status: undefined, generation: 1, found: shown.at(-1), phase: lastPhase(), now: now() }),
    /** The boot id in each report. */
    boots,
    pass: (state: SriovNetworkNodeState, signal = never): Promise<PassResult> =>
      configureNode(
        state,
        {
          host,
          timing,
          observeHost,
          withRecordDeadline,
          runningSteps,
          refusedChanges,
          missingInterfaces,
          vfHolders,
          uncleanVfs,
          maxPfs: 4,
          maxHanging: 4,
          keepUdevRules,
          loadVhostModules: createVhostModules(host, { timing, now }),
          onLateEnd: () => undefined,
          guard,
          beginPass: options.beginPass?.(guard),
          isDrainDisabled: () => !drains,
          isDrainNeededElsewhere: options.isDrainNeededElsewhere ?? (() => false),
          onPlan: ({ steps }) => planned.push(steps.length),
          onStep(step) {
            firmware.stepEnded(step);
            onStep(step);
          },
          onApplied: ({ isDone }) => applied.push(isDone),
          requestDrain({ request, vfs }) {
            requests.push(request);
            requestedVfs.push(vfs && formatVfSet(vfs));
            return Promise.resolve();
          },
          withdrawRequest() {
            const isRequested = requestOf(state) !== "Idle";
            if (isRequested) requests.push("Idle");
            return Promise.resolve(isRequested);
          },
          report(phase, found) {
            phases.push(phase);
            boots.push(found?.bootId);
            if (found !== undefined) shown.push(found);
            return Promise.resolve();
          },
        },
        signal,
      ),
  };
}
