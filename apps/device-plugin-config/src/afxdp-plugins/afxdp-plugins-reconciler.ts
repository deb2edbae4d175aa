// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpPluginsReconciler configures the device plugin of afxdp-plugins-for-kubernetes for the present AfxdpNetworkNodeState, and
 * writes status.pools.
 *
 * The init container waits until the config daemon has configured the node. The follower rewrites the configuration and restarts the
 * plugin when it changes. It compares the configuration with what the kubelet has, because the plugin keeps running if it announces
 * nothing, and restarts it where that helps (pace-restarts.ts).
 *
 * The devices are recorded on the node before they are in the configuration (@switchyard/host/upstream-plugin).
 *
 * Without a node state, and before the first report of the daemon, nothing is changed: unknown is not unwanted.
 */
import {
  conditionTypes,
  defined,
  nodeStateReasons,
  parseLimitedJson,
  type AfxdpNetworkNodeState,
  type AfxdpPoolStatus,
  type Result,
} from "@switchyard/api";
import type { GivenDevice } from "@switchyard/host/upstream-plugin";
import type { Reconcile, Requeue, Writer } from "@switchyard/kube";
import type { DevicesByResource } from "@switchyard/kubelet";
import { deviceIdOf } from "@switchyard/plan";
import { formatAfxdpPluginsConfig, nodeAfxdpPluginsConfig, type RenderedAfxdpPlugins } from "@switchyard/render";
import type { Logger } from "@switchyard/service";
import { activateConfig, readRecord, writeForStart } from "../config-file.ts";
import type { DevicePluginConfigFlags } from "../device-plugin-config-flags.ts";
import type { PluginConfig } from "../plugin-config.ts";
import { graceMs, paceRestarts, type RestartPace } from "./pace-restarts.ts";
import { missingDevices, poolRows } from "./pool-rows.ts";
import type { KernelSettings } from "./read-kernel-settings.ts";

/** What the process sees of its node. */
export interface PluginNode {
  readonly kernelSettings: () => Promise<KernelSettings>;
  /** The devices that the kubelet has, or why it does not answer. */
  readonly offered: (signal: AbortSignal) => Promise<Result<DevicesByResource, string>>;
  /** Differs after each start of the kubelet. */
  readonly kubeletStart: () => Promise<string | undefined>;
  /** Ends the plugin, which starts again, and returns the ids of its processes. */
  readonly endPlugin: () => Promise<readonly number[]>;
  /** Records the devices, before the plugin gets them. What it leaves on a device without a record is never removed. */
  readonly recordDevices: (given: readonly GivenDevice[]) => Promise<void>;
  /** Removes what the plugin has left of these pools and no pod uses. */
  readonly tidyUp: (pools: ReadonlySet<string>, signal: AbortSignal) => Promise<void>;
}

export interface AfxdpPluginsReconcilerDeps {
  readonly flags: Readonly<Pick<DevicePluginConfigFlags, "nodeName" | "configFile" | "wait" | "verbosity">>;
  readonly node: PluginNode;
  /** Returns the node state from the cache. */
  readonly state: () => AfxdpNetworkNodeState | undefined;
  readonly writer: Pick<Writer<AfxdpNetworkNodeState>, "applyStatus">;
  readonly log: Logger;
  /** Called when the init container has written the configuration. */
  readonly onWritten: () => void;
  readonly nowMs: () => number;
}

/** Time between two looks for what the plugin has left. */
const tidyMs = 600_000;
/** While something is missing. */
const retryMs = 5_000;

export function createAfxdpPluginsReconciler(deps: AfxdpPluginsReconcilerDeps): Reconcile {
  const { flags, node, log, nowMs } = deps;
  const { configFile } = flags;
  /** The last known names of devices. */
  let names: ReadonlyMap<string, string> | undefined;
  let pace: RestartPace | undefined;
  /** Whether the plugin ran when it was last ended. */
  let ran = true;
  let silentSinceMs: number | undefined;
  let tidiedMs = -Infinity;
  /** The pools that this process has configured. */
  const pools = new Set<string>();
  let said = "";

  return async function reconcile(_key, signal) {
    const state = deps.state();
    if (state?.status?.interfaces === undefined) {
      sayOnce("waiting for the first status of the node's AfxdpNetworkNodeState");
      return undefined;
    }
    names ??= recordedNames(await readRecord(configFile));
    const rendered = nodeAfxdpPluginsConfig(state, {
      verbosity: flags.verbosity,
      knownNames: names,
      ...(await node.kernelSettings()),
    });
    names = new Map([...names, ...rendered.devices.map(({ key, name }) => [key, name] as const)]);
    const config = pluginsConfig(rendered);
    for (const pool of rendered.config.pools) pools.add(pool.name);
    if (flags.wait) {
      if (isSettled(state)) {
        await node.recordDevices(givenDevices(rendered, state));
        await writeForStart(config, { configFile, log });
        deps.onWritten();
      } else sayOnce("waiting for the config daemon to configure the devices");
      return undefined;
    }
    await node.recordDevices(givenDevices(rendered, state));
    await activateConfig(config, { configFile, endPlugin: node.endPlugin, log });
    const requeue = await compare(state, rendered, config, signal);
    if (silentSinceMs === undefined && nowMs() - tidiedMs >= tidyMs) {
      tidiedMs = nowMs();
      await node.tidyUp(pools, signal);
    }
    return requeue;
  };

  /** Compares the configuration with what the kubelet has, and restarts the plugin if that can help. */
  async function compare(
    state: AfxdpNetworkNodeState,
    rendered: RenderedAfxdpPlugins,
    config: PluginConfig,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const wanted = state.spec?.pools ?? [];
    const kubeletStart = await node.kubeletStart();
    const offered = await node.offered(signal);
    if (!offered.ok) {
      silentSinceMs ??= nowMs();
      // The kubelet restarts within seconds. The status stays as it is until then.
      if (nowMs() - silentSinceMs < graceMs) return { afterMs: retryMs };
      sayOnce(`the kubelet does not answer: ${offered.error}`);
      const facts = { pools: wanted, offered: undefined, stuck: [], kubeletError: offered.error };
      await write(state, poolRows(rendered, facts), signal);
      return { afterMs: retryMs };
    }
    silentSinceMs = undefined;
    const missing = missingDevices(rendered, offered.value);
    const onHost = rendered.devices.filter(({ isOnHost }) => isOnHost).map(({ name }) => name);
    const situation = JSON.stringify([config.record, kubeletStart, onHost]);
    const decided = paceRestarts(pace, { isMissing: missing.length > 0, situation, nowMs: nowMs() });
    pace = decided.pace;
    if (decided.next === "restart") {
      const pids = await node.endPlugin();
      ran = pids.length > 0;
      const devices = missing.map(({ name }) => name);
      log.warn({ devices, pids }, "the kubelet does not have devices of the device plugin, which restarts");
    }
    const isStuck = missing.length > 0 && (pace?.restarts ?? 0) > 0;
    const rows = poolRows(rendered, {
      pools: wanted,
      offered: offered.value,
      stuck: isStuck ? missing : [],
      stuckText: stuckText(decided.next === "given-up", ran),
    });
    sayOnce(rendered.problems.map(({ poolName, message }) => `pool ${poolName}: ${message}`).join("; "));
    await write(state, rows, signal);
    return missing.length > 0 && decided.next !== "given-up" ? { afterMs: retryMs } : undefined;
  }

  async function write(
    { metadata: { name, namespace, uid } }: AfxdpNetworkNodeState,
    pools: readonly AfxdpPoolStatus[],
    signal: AbortSignal,
  ): Promise<void> {
    // Without the uid, an apply would create the object again after its deletion.
    const metadata = { name, ...defined({ namespace }), ...(uid && { uid }) };
    await deps.writer.applyStatus({ metadata, status: { pools } }, signal);
  }

  function sayOnce(message: string): void {
    if (message !== said && message !== "") log.info({ node: flags.nodeName }, message);
    said = message;
  }
}

/** The program of a device is that before the plugin, if the plugin was not given the device before. */
function givenDevices({ devices }: RenderedAfxdpPlugins, { status }: AfxdpNetworkNodeState): readonly GivenDevice[] {
  return devices.map(({ key, name, poolName }) => {
    const observed = (status?.interfaces ?? []).find((device) => deviceIdOf(device) === key);
    return { device: key, name, poolName, ...defined({ programBefore: observed?.xdp?.program?.id }) };
  });
}

function stuckText(isGivenUp: boolean, ran: boolean): string {
  if (!ran) return "it does not run; see the log of its container";
  return isGivenUp ? "restarts did not help; see the log of its container" : "it has been restarted";
}

/**
 * isSettled tells whether the config daemon has configured the AF_XDP devices of the node, so that the plugin can start. It is a pure
 * function.
 * A daemon that failed and retries, or that waits for the drain of its node, has done what it can. This can take hours,
 * and the devices of other pools must not wait for it.
 */
export function isSettled({ metadata, status = {} }: AfxdpNetworkNodeState): boolean {
  const { interfaces, observedGeneration, syncStatus, conditions = [] } = status;
  if (interfaces === undefined || observedGeneration !== metadata.generation) return false;
  const progressing = conditions.find(({ type }) => type === conditionTypes.progressing);
  const isWaiting = progressing?.reason === nodeStateReasons.waitingForDrain;
  return syncStatus === "Succeeded" || syncStatus === "Failed" || isWaiting;
}

/**
 * pluginsConfig returns the configuration file of the plugin, and a record of the devices in it. The plugin must restart only if the
 * record changes. The record also has the names that devices keep while they are in pods. Both functions are pure.
 */
function pluginsConfig({ config, devices }: RenderedAfxdpPlugins): PluginConfig {
  const text = formatAfxdpPluginsConfig(config);
  const names = Object.fromEntries(devices.map(({ key, name }) => [key, name]));
  return { text, record: JSON.stringify({ text, names }) };
}

/** Returns the names of devices by their keys; an empty map for a record that cannot be read. */
function recordedNames(record: string | undefined): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [key, name] of Object.entries(membersOf(membersOf(parse(record ?? ""))["names"]))) {
    if (typeof name === "string") names.set(key, name);
  }
  return names;
}

function parse(text: string): unknown {
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
