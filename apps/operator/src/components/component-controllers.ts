// SPDX-License-Identifier: Apache-2.0
/**
 * startComponentControllers starts "operator-config", which deploys the components, "hardware-offload", and on
 * OpenShift "systemd-mode".
 * Usage: `startComponentControllers(context);`
 */
import {
  operatorConfigName,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  upstreamFinalizers,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createWriter, fromCache, removeFinalizer, type Change, type Source } from "@switchyard/kube";
import { isControlPlaneExternal, isSystemdMode, systemdModeConfigName } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import { affectsNodes } from "../node-states/affected-nodes.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { limitRate } from "../status/limit-rate.ts";
import { createTransitionEvents } from "../status/transition-events.ts";
import { createComponentWriters } from "./component-writers.ts";
import { configExists } from "./config-exists.ts";
import { changesControlPlane } from "./control-plane-changes.ts";
import { changesOffload, createHardwareOffloadReconciler } from "./openshift/hardware-offload-reconciler.ts";
import { createMachineConfigs, type MachineConfigs } from "./openshift/machine-configs.ts";
import { createSystemdModeReconciler, type SystemdModeChange } from "./openshift/systemd-mode-reconciler.ts";
import { createOperatorConfigReconciler } from "./operator-config-reconciler.ts";

/**
 * Least time between two runs: while a thousand pods are replaced, the status of their DaemonSet changes all the time.
 */
const intervalMs = 1_000;

/** The only key of the hardware-offload controller. */
const allPools = "all";

export function startComponentControllers(context: OperatorContext): void {
  const { transport, settings } = context;
  const machineConfigs = settings.clusterType === "openshift" ? createMachineConfigs(transport) : undefined;
  context.start(operatorConfigController(context));
  context.start(hardwareOffloadController(context, machineConfigs));
  if (machineConfigs !== undefined) context.start(systemdModeController(context, machineConfigs));
}

function operatorConfigController(context: OperatorContext): ControllerDefinition {
  const { transport, caches, settings, events, log } = context;
  const { nodes, operatorConfigs, componentObjects, clusterFacts } = caches;
  const { namespace } = settings;
  const type = sriovOperatorConfigs;
  const reconcile = createOperatorConfigReconciler({
    configs: operatorConfigs,
    settings: () => ({
      ...settings.components,
      tls: clusterFacts.tls() ?? settings.components.tls,
      isControlPlaneExternal: clusterFacts.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list()),
    }),
    objects: componentObjects,
    write: createComponentWriters({ transport, objects: componentObjects }),
    owner: () => clusterFacts.owner(),
    writer: createWriter<SriovOperatorConfig>({
      ...{ transport, type, namespace },
      manager: fieldManagers.operatorConfigStatus,
      cache: operatorConfigs,
    }),
    configExists: (config, signal) => configExists(transport, config, signal),
    async removeFinalizer(metadata, signal) {
      await removeFinalizer({
        ...{ transport, type, signal, object: { metadata } },
        finalizer: upstreamFinalizers.operatorConfig,
      });
    },
    recordTransition: createTransitionEvents(events),
    ...{ log, now: () => new Date() },
  });
  return {
    name: "operator-config",
    reconcile: limitRate(reconcile, { intervalMs, nowMs: () => performance.now() }),
    parallel: 2,
    deadlineMs: 120_000,
    reads: [operatorConfigs, nodes, componentObjects, clusterFacts],
    sources: [
      fromCache(operatorConfigs, ({ key }) => [key]),
      fromCache(nodes, (change) => (changesControlPlane(change) ? [operatorConfigName] : [])),
      enqueuesConfig((enqueue) => {
        const ends = componentObjects.watches.map(({ cache }) => {
          return cache.subscribe(({ before, after }) => {
            if (before !== undefined || after !== undefined) enqueue();
          });
        });
        return () => {
          for (const end of ends) end();
        };
      }),
      enqueuesConfig((enqueue) => clusterFacts.subscribe(enqueue)),
    ],
  };
}

function hardwareOffloadController(
  { transport, caches, rules, settings }: OperatorContext,
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
      ...{ pools, machineConfigs, isManaged: () => rules() !== undefined },
      writer: createWriter<SriovNetworkPoolConfig>({
        ...{ transport, type, namespace },
        manager: fieldManagers.hardwareOffload,
        cache: pools,
      }),
      async removeFinalizer(metadata, signal) {
        await removeFinalizer({
          ...{ transport, type, signal, object: { metadata } },
          finalizer: upstreamFinalizers.poolConfig,
        });
      },
      now: () => new Date(),
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
  const { nodes, pools, policies, operatorConfigs, clusterFacts } = caches;
  return {
    name: "systemd-mode",
    parallel: 1,
    reads: [nodes, pools, policies, operatorConfigs, clusterFacts],
    reconcile: createSystemdModeReconciler({
      ...{ machineConfigs, isManaged: () => rules() !== undefined },
      isSystemdMode() {
        const config = operatorConfigs.get(operatorConfigName);
        const isExternal = clusterFacts.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list());
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
      enqueuesConfig((enqueue) => clusterFacts.subscribe(enqueue)),
    ],
  };
}

function changesMode({ before, after }: Change<SriovOperatorConfig>): boolean {
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
} as const satisfies Readonly<Record<SystemdModeChange, object>>;

/**
 * Enqueues the name of the SriovOperatorConfig, whether it exists or not: without it, leftovers have to be removed. The
 * controller waits for all caches of the context, so this source need not wait for one.
 */
function enqueuesConfig(subscribe: (enqueue: () => void) => () => void): Source {
  return {
    start: (enqueue) =>
      subscribe(() => {
        enqueue(operatorConfigName);
      }),
    whenSynced: () => Promise.resolve(),
  };
}
