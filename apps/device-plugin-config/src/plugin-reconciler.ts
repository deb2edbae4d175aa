// SPDX-License-Identifier: Apache-2.0
/**
 * createPluginReconciler configures the device plugin for the present NodeState, and writes the condition
 * DevicePluginConfigured.
 *
 * With the feature gate, the init container waits until the daemon has configured the node in this boot and is not busy
 * (is-daemon-busy.ts). At least one VF can then be advertised, and no VF is stale. Without the feature gate, it waits
 * until the NodeState is known, or known to be absent. The plugin then starts at once, but advertises only VFs that the
 * daemon has configured in this boot; the follower adds the others later.
 *
 * Without a NodeState, and before the first report of the daemon, the follower changes nothing.
 */
import { mayHandOver } from "@switchyard/policy";
import { defined, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Boot, SriovSysfs } from "@switchyard/host/sysfs";
import {
  createKnownRefusals,
  setConditions,
  type NewCondition,
  type Reconcile,
  type Requeue,
  type Writer,
} from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import { advertise, vfsInResources, type Advertised } from "./advertise.ts";
import { conditionOf, notApplied, notRegistered } from "./condition.ts";
import type { DevicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { endPlugin } from "./end-plugin.ts";
import { isDaemonBusy } from "./is-daemon-busy.ts";
import { pluginConfig, readKernelVfs, type PluginConfig } from "./plugin-config.ts";
import type { ReadUnregistered } from "./registered-resources.ts";
import type { ReportedHolders, Withholding } from "./withheld-vfs.ts";
import { activateConfig, isInForce, writeForStart } from "./config-file.ts";
import type { HandOver } from "./hand-over.ts";

export interface PluginReconcilerDeps {
  readonly flags: Readonly<
    Pick<
      DevicePluginConfigFlags,
      "nodeName" | "configFile" | "pluginProcess" | "wait" | "blockUntilConfigured" | "resourcePrefix"
    >
  >;
  readonly host: { readonly sriov: Pick<SriovSysfs, "readBinding">; readonly boot: Boot };
  readonly withholding: Withholding;
  readonly readUnregistered: ReadUnregistered;
  /** Whether everything that withholds VFs is known; true by default. */
  readonly isReady?: () => boolean;
  /** Returns the NodeState of the node from the cache. */
  readonly state: () => SriovNetworkNodeState | undefined;
  readonly handOver: HandOver;
  readonly writer: Pick<Writer<SriovNetworkNodeState>, "applyStatus">;
  readonly log: Logger;
  /** Called when the init container has written the configuration. */
  readonly onWritten: () => void;
}

/** A stale VF is checked again after this time. If it becomes what the status says, the status does not change. */
const staleRetryMs = 2_000;

/** Enough for a plugin that was told to end. */
const handOverMs = 2_000;

/** The kubelet sends no event when a plugin registers. */
const unregisteredRetryMs = 3_000;

export function createPluginReconciler(deps: PluginReconcilerDeps): Reconcile {
  const { flags, host, log, writer, withholding } = deps;
  const refusals = createKnownRefusals();
  let lastMessage = "";

  return async function reconcile(_key, signal) {
    if (deps.isReady?.() === false) return undefined; // an event follows
    const state = deps.state();
    if (state?.status?.interfaces === undefined) {
      if (flags.wait && !flags.blockUntilConfigured) await finish(pluginConfig({ resourceList: null }, new Map()));
      else logOnce("waiting for the first status of the node's SriovNetworkNodeState");
      return undefined;
    }
    try {
      const requeue = await configure(state, state.status, signal);
      refusals.forget(flags.nodeName);
      return requeue;
    } catch (error) {
      if (signal.aborted) throw error;
      // The condition shows the failure until an attempt succeeds. The controller reports the original error.
      const failed = notApplied(`configure ${flags.pluginProcess} by ${flags.configFile}`, error);
      await writeCondition(writer, state, failed, signal).catch((cause: unknown) => {
        const level = refusals.add(flags.nodeName, cause) === "known" ? "debug" : "warn";
        log[level]({ error: cause }, "condition DevicePluginConfigured not written; retrying");
      });
      throw error;
    }
  };

  async function configure(
    state: SriovNetworkNodeState,
    status: SriovNetworkNodeStateStatus,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const kernel = await readKernelVfs(host.sriov, vfsInResources(state));
    const isConfigured = status.bootID === (await host.boot.readBootId());
    // With the feature gate, the init container of this boot waited for the daemon before the plugin started. A status with
    // another boot id, or with none, as upstream's daemon writes it, therefore withdraws no VF.
    const isThisBoot = isConfigured || (!flags.wait && flags.blockUntilConfigured);
    const options = { kernel, block: flags.blockUntilConfigured, isThisBoot };
    const allocation = await deps.handOver.confirm(state, signal);
    const { withheld, afterMs } = await withholding.check(
      advertise(state, options).rendered.config,
      { allocation, reported: reportedHolders(status) },
      signal,
    );
    const advertised = advertise(state, { ...options, withheld });
    const config = pluginConfig(advertised.rendered.config, kernel);
    const isHandedOver = mayHandOver("devicePlugin", allocation);
    const wasInForce = isHandedOver && (await isInForce(flags.configFile, config));
    let condition = conditionOf(advertised);
    logOnce(condition.message);
    if (flags.wait) {
      if (!flags.blockUntilConfigured || canStart(state, advertised)) await finish(config);
    } else if (isThisBoot) {
      await activateConfig(config, {
        configFile: flags.configFile,
        endPlugin: () => endPlugin(flags.pluginProcess),
        log,
      });
    }
    const unregistered = await deps.readUnregistered(fullNames(advertised, flags.resourcePrefix));
    const isUnregistered = unregistered !== undefined && unregistered.resources.length > 0;
    if (isUnregistered && condition.status === "True") condition = notRegistered(unregistered, condition.message);
    await writeCondition(writer, state, condition, signal);
    if (isHandedOver) {
      // Not before a pass in which nothing changed: the plugin that was told to end could still register.
      if (!flags.wait && !wasInForce) return { afterMs: handOverMs };
      await deps.handOver.write(state, signal);
    }
    if (isUnregistered && !flags.wait) return { afterMs: Math.min(unregisteredRetryMs, afterMs ?? Infinity) };
    if (advertised.pending.some(({ cause }) => cause === "stale")) return { afterMs: staleRetryMs };
    return afterMs === undefined ? undefined : { afterMs };
  }

  async function finish(config: PluginConfig): Promise<void> {
    await writeForStart(config, { configFile: flags.configFile, log });
    deps.onWritten();
  }

  function logOnce(message: string): void {
    if (message !== lastMessage) log.info({ node: flags.nodeName }, message);
    lastMessage = message;
  }
}

/** The resources that have VFs, as the kubelet knows them. */
function fullNames({ rendered }: Advertised, prefix: string): readonly string[] {
  return (rendered.config.resourceList ?? []).flatMap(({ resourceName, selectors }) =>
    (selectors.pciAddresses ?? []).length === 0 ? [] : [`${prefix}/${resourceName}`],
  );
}

async function writeCondition(
  writer: PluginReconcilerDeps["writer"],
  { metadata, status }: SriovNetworkNodeState,
  condition: NewCondition,
  signal: AbortSignal,
): Promise<void> {
  const options = { now: new Date(), observedGeneration: metadata.generation ?? 0, types: [condition.type] };
  const conditions = setConditions(status?.conditions, [condition], options);
  const { name, namespace, uid } = metadata;
  // Without the uid, an apply would create the object again after its deletion.
  const identity = { name, ...defined({ namespace }), ...(uid && { uid }) };
  await writer.applyStatus({ metadata: identity, status: { conditions } }, signal);
}

/** Reports whether the plugin can start now. It would restart for each later change. */
function canStart(state: SriovNetworkNodeState, { rendered, pending }: Advertised): boolean {
  if ((rendered.config.resourceList ?? []).length === 0 || isDaemonBusy(state)) return false;
  return !pending.some(({ cause }) => cause === "stale");
}

function reportedHolders({ interfaces = [] }: SriovNetworkNodeStateStatus): ReportedHolders {
  const vfs = interfaces.flatMap(({ Vfs = [] }) => Vfs);
  return new Map(
    vfs.flatMap(({ pciAddress, holder }) => (holder === undefined ? [] : [[pciAddress, holder] as const])),
  );
}
