// SPDX-License-Identifier: Apache-2.0
/**
 * startComponentControllers starts "operator-config", which deploys the components, "afxdp-config", "hardware-offload", and on
 * OpenShift "systemd-mode".
 */
import {
  afxdpOperatorConfigs,
  operatorConfigName,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  upstreamFinalizers,
  type EventReason,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  createWriter,
  fromCache,
  removeFinalizer,
  systemClock,
  type CacheChange,
  type EventToRecord,
} from "@switchyard/kube";
import { nodeSetLabels } from "@switchyard/policy";
import { isControlPlaneExternal, isSystemdMode, systemdModeConfigName } from "@switchyard/render";
import { afxdpConfigController, createAfxdpReport, type AfxdpReport } from "./afxdp-config-controller.ts";
import { fieldManagers } from "../field-managers.ts";
import { affectsNodes } from "../results/affected-nodes.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { limitRate } from "../controller-pace.ts";
import { createContestEvents } from "../reports/contest-events.ts";
import { createTransitionEvents } from "../reports/transition-events.ts";
import { isKindGone } from "../facts/cluster-settings.ts";
import {
  changesPlacement,
  enqueuesConfig,
  existing,
  settingsIn,
  subscribeToCertificates,
  subscribeToComponents,
} from "./component-sources.ts";
import { createComponentWriters } from "./component-writers.ts";
import { changesDriverLabel, changesUseOfNode, changesUseOfPool, countNodesWithoutDriver } from "../facts/claim-use.ts";
import { createRecentDeletions } from "../facts/recent-deletions.ts";
import { configExists } from "../facts/config-exists.ts";
import { changesOffload, createHardwareOffloadReconciler } from "./openshift/hardware-offload-reconciler.ts";
import { createMachineConfigs, type MachineConfigs } from "./openshift/machine-configs.ts";
import { createResetHold } from "../node-states/reset-hold.ts";
import { createSystemdModeReconciler, type SystemdModeChange } from "./openshift/systemd-mode-reconciler.ts";
import { createOperatorConfigReconciler, isOfAfxdp } from "./operator-config-reconciler.ts";
import { createPodRefusals } from "./pod-refusals.ts";

/**
 * Least time between two runs: while a thousand pods are replaced, the status of their DaemonSet changes all the time.
 */
const intervalMs = 1_000;

/** No event tells that a kind is installed. */
const recheckKinds = { afterMs: 5_000 };

/** The only key of the hardware-offload controller. */
const allPools = "all";

export function startComponentControllers(context: OperatorContext): void {
  const { transport, settings } = context;
  const machineConfigs = settings.clusterType === "openshift" ? createMachineConfigs(transport) : undefined;
  const report = createAfxdpReport();
  context.start(operatorConfigController(context, report));
  context.start(afxdpConfigController(context, report));
  context.start(hardwareOffloadController(context, machineConfigs));
  if (machineConfigs !== undefined) context.start(systemdModeController(context, machineConfigs));
}

function operatorConfigController(context: OperatorContext, report: AfxdpReport): ControllerDefinition {
  const { transport, caches, settings, events, log, now } = context;
  const { nodes, operatorConfigs, afxdpConfigs, componentObjects, clusterSettings, pools, states } = caches;
  const { namespace } = settings;
  const type = sriovOperatorConfigs;
  const reconcile = createOperatorConfigReconciler({
    configs: operatorConfigs,
    nodes: () => nodes.list(),
    countNodesWithoutDriver: () => countNodesWithoutDriver(context),
    settings: () => settingsIn(context),
    afxdp: () => existing(afxdpConfigs.get(operatorConfigName)),
    objects: componentObjects,
    write: createComponentWriters({ transport, objects: componentObjects }),
    owner: () => clusterSettings.owner(),
    writer: createWriter<SriovOperatorConfig>({
      transport,
      type,
      namespace,
      manager: fieldManagers.operatorConfigStatus,
      cache: operatorConfigs,
      watchOthers: systemClock,
    }),
    reportAfxdp: report.set,
    configExists: (config, signal) =>
      configExists(transport, config, signal, config.kind === type.kind ? type : afxdpOperatorConfigs),
    async removeFinalizer(metadata, signal) {
      await removeFinalizer({
        transport,
        type,
        signal,
        object: { metadata },
        finalizer: upstreamFinalizers.operatorConfig,
      });
    },
    recordTransition: createTransitionEvents(events),
    recordContest: createContestEvents(events),
    findPodRefusals: createPodRefusals({ transport, namespace, nowMs: () => performance.now() }),
    log,
    now,
    elapsedMs: () => performance.now(),
  });
  const limited = limitRate(reconcile, { intervalMs, nowMs: () => performance.now() });
  const deletions = createRecentDeletions({ caches: [afxdpConfigs], nowMs: () => performance.now() }, context.signal);
  const afxdpItems = componentObjects.inventory.filter(({ component }) => isOfAfxdp(component));
  /** Whether components for AF_XDP are deployed, and the AfxdpOperatorConfig is absent. */
  const losesAfxdp = (): boolean =>
    afxdpConfigs.get(operatorConfigName) === undefined &&
    afxdpItems.some((item) => componentObjects.seen(item)?.isDeployed === true);
  return {
    name: "operator-config",
    async reconcile(key, signal) {
      // Without the kind there is no config, and what was deployed is removed: one 404 of a list is not enough for that.
      if (!operatorConfigs.served && !(await isKindGone(transport, type, signal))) return recheckKinds;
      const waitMs = losesAfxdp() ? deletions.remainingMs() : 0;
      if (waitMs > 0) return { afterMs: waitMs };
      if (losesAfxdp() && !afxdpConfigs.served && !(await isKindGone(transport, afxdpOperatorConfigs, signal))) {
        return recheckKinds;
      }
      return limited(key, signal);
    },
    parallel: 2,
    deadlineMs: 120_000,
    reads: [operatorConfigs, afxdpConfigs, nodes, componentObjects, clusterSettings, pools, states],
    sources: [
      fromCache(operatorConfigs, ({ key }) => [key]),
      fromCache(afxdpConfigs, ({ key }) => (key === operatorConfigName ? [key] : [])),
      fromCache(nodes, (change) =>
        changesPlacement(change, nodeSetLabels(operatorConfigs.get(operatorConfigName))) ? [operatorConfigName] : [],
      ),
      fromCache(nodes, (change) => (changesDriverLabel(change) ? [operatorConfigName] : [])),
      fromCache(pools, (change) => (changesUseOfPool(change) ? [operatorConfigName] : [])),
      fromCache(states, (change) => (changesUseOfNode(change) ? [operatorConfigName] : [])),
      enqueuesConfig((enqueue) => subscribeToComponents(componentObjects, enqueue)),
      enqueuesConfig((enqueue) => subscribeToCertificates(caches.certificates, enqueue)),
      enqueuesConfig((enqueue) => clusterSettings.subscribe(enqueue)),
    ],
  };
}

function hardwareOffloadController(
  { transport, caches, rules, settings, nowMs, now, signal: stopped }: OperatorContext,
  machineConfigs: MachineConfigs | undefined,
): ControllerDefinition {
  const { pools, policies, operatorConfigs } = caches;
  const { namespace } = settings;
  const type = sriovNetworkPoolConfigs;
  return {
    name: "hardware-offload",
    parallel: 1,
    reads: [pools, policies, operatorConfigs],
    reconcile: createHardwareOffloadReconciler({
      pools,
      machineConfigs,
      isManaged: () => rules() !== undefined,
      deletions: createRecentDeletions({ caches: [pools], nowMs: () => performance.now() }, stopped),
      findPoolHold: createResetHold({
        transport,
        type,
        cache: pools,
        lost: { objects: "pools", consequence: "machines without a pool lose their hardware offload" },
        namespace,
        nowMs,
      }),
      writer: createWriter<SriovNetworkPoolConfig>({
        transport,
        type,
        namespace,
        manager: fieldManagers.hardwareOffload,
        cache: pools,
      }),
      async removeFinalizer(metadata, signal) {
        await removeFinalizer({
          transport,
          type,
          signal,
          object: { metadata },
          finalizer: upstreamFinalizers.poolConfig,
        });
      },
      now,
    }),
    sources: [
      fromCache(pools, (change) => (changesOffload(change) ? [allPools] : [])),
      fromCache(operatorConfigs, (change) => (affectsNodes(change) ? [allPools] : [])),
    ],
  };
}

function systemdModeController(
  { caches, settings, rules, events, log }: OperatorContext,
  machineConfigs: MachineConfigs,
): ControllerDefinition {
  const { nodes, pools, policies, operatorConfigs, clusterSettings } = caches;
  return {
    name: "systemd-mode",
    parallel: 1,
    reads: [nodes, pools, policies, operatorConfigs, clusterSettings],
    reconcile: createSystemdModeReconciler({
      machineConfigs,
      isManaged: () => rules() !== undefined,
      isSystemdMode() {
        const config = operatorConfigs.get(operatorConfigName);
        const isExternal = clusterSettings.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list());
        const components = { ...settings.components, isControlPlaneExternal: isExternal };
        return config !== undefined && isSystemdMode({ config, settings: components });
      },
      onChanged(change) {
        const { type, reason, note, action } = systemdModeEvents[change];
        log.warn({ machineConfig: systemdModeConfigName, reason }, note);
        const regarding = operatorConfigs.get(operatorConfigName);
        if (regarding !== undefined) events.record({ regarding, type, reason, note, action });
      },
    }),
    sources: [
      fromCache(operatorConfigs, (change) => (changesMode(change) || affectsNodes(change) ? [operatorConfigName] : [])),
      enqueuesConfig((enqueue) => clusterSettings.subscribe(enqueue)),
    ],
  };
}

function changesMode({ before, after }: CacheChange<SriovOperatorConfig>): boolean {
  return before?.spec?.configurationMode !== after?.spec?.configurationMode;
}

const systemdModeEvents = {
  written: {
    type: "Normal",
    reason: "SystemdModeInstalled",
    action: "Apply",
    note: `MachineConfig ${systemdModeConfigName} of the systemd mode is written; OpenShift reboots the machines of its pool`,
  },
  deleted: {
    type: "Normal",
    reason: "SystemdModeRemoved",
    action: "Delete",
    note: `MachineConfig ${systemdModeConfigName} of the systemd mode is deleted; OpenShift reboots the machines of its pool`,
  },
  foreign: {
    type: "Warning",
    reason: "SystemdModeNotInstalled",
    action: "Apply",
    note: `MachineConfig ${systemdModeConfigName} contains units of others and is not changed; delete it to use the systemd mode`,
  },
} as const satisfies Readonly<
  Record<SystemdModeChange, Pick<EventToRecord, "type" | "note" | "action"> & { readonly reason: EventReason }>
>;
