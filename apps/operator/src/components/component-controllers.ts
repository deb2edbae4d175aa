// SPDX-License-Identifier: Apache-2.0
/**
 * The controller of SriovOperatorConfigs: what it reads, what wakes it, what it writes.
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
import { createWriter, fromCache, removeFinalizer, type Source } from "@switchyard/kube";
import { isControlPlaneExternal } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import type { OperatorContext } from "../operator-context.ts";
import { limitRate } from "../status/limit-rate.ts";
import { configExists } from "./config-exists.ts";
import { createTransitionEvents } from "../status/transition-events.ts";
import { affectsNodes } from "../node-states/affected-nodes.ts";
import { createComponentWriters } from "./component-writers.ts";
import { changesControlPlane } from "./control-plane-changes.ts";
import { changesOffload, createHardwareOffloadReconciler } from "./openshift/hardware-offload-reconciler.ts";
import { createMachineConfigs } from "./openshift/machine-configs.ts";
import { createOperatorConfigReconciler } from "./operator-config-reconciler.ts";
import { createSystemdModeReconciler, systemdModeConfigName } from "./openshift/systemd-mode.ts";

/** While a thousand pods are replaced, their DaemonSet changes all the time. */
const intervalMs = 1_000;

/** One key for all pools. */
const allPools = "all";

export function startComponentControllers(context: OperatorContext): void {
  const { transport, caches, rules, settings, events, log, start } = context;
  const { nodes, policies, operatorConfigs, pools, componentObjects, clusterFacts } = caches;
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
  start({
    name: "operator-config",
    reconcile: limitRate(reconcile, { intervalMs, nowMs: () => performance.now() }),
    parallel: 2,
    deadlineMs: 120_000,
    reads: [operatorConfigs, nodes, componentObjects, clusterFacts],
    sources: [
      fromCache(operatorConfigs, ({ key }) => [key]),
      fromCache(nodes, (change) => (changesControlPlane(change) ? [operatorConfigName] : [])),
      wakes((wake) => {
        const ends = componentObjects.watches.map(({ cache }) => {
          return cache.subscribe(({ before, after }) => {
            if (before !== undefined || after !== undefined) wake();
          });
        });
        return () => {
          for (const end of ends) end();
        };
      }),
      wakes((wake) => clusterFacts.subscribe(wake)),
    ],
  });

  const machineConfigs = settings.clusterType === "openshift" ? createMachineConfigs(transport) : undefined;
  const isManaged = (): boolean => rules() !== undefined;

  start({
    name: "hardware-offload",
    parallel: 1,
    reads: [pools, policies, operatorConfigs],
    reconcile: createHardwareOffloadReconciler({
      ...{ pools, machineConfigs, isManaged },
      writer: createWriter<SriovNetworkPoolConfig>({
        ...{ transport, type: sriovNetworkPoolConfigs, namespace },
        manager: fieldManagers.hardwareOffload,
        cache: pools,
      }),
      async removeFinalizer(metadata, signal) {
        await removeFinalizer({
          ...{ transport, type: sriovNetworkPoolConfigs, signal, object: { metadata } },
          finalizer: upstreamFinalizers.poolConfig,
        });
      },
      now: () => new Date(),
    }),
    sources: [
      fromCache(pools, (change) => (changesOffload(change) ? [allPools] : [])),
      fromCache(operatorConfigs, (change) => (affectsNodes(change) ? [allPools] : [])),
    ],
  });

  if (machineConfigs === undefined) return;
  start({
    name: "systemd-mode",
    parallel: 1,
    reads: [pools, policies, operatorConfigs],
    reconcile: createSystemdModeReconciler({
      ...{ machineConfigs, isManaged },
      onRemoved() {
        const reboots = "OpenShift reboots the machines of its pool";
        const note = `MachineConfig ${systemdModeConfigName} of upstream's systemd mode is deleted; ${reboots}`;
        log.warn(
          { machineConfig: systemdModeConfigName },
          `MachineConfig of upstream's systemd mode deleted; ${reboots}`,
        );
        const regarding = operatorConfigs.get(operatorConfigName);
        if (regarding !== undefined) {
          events.record({ regarding, type: "Normal", reason: "SystemdModeRemoved", note, action: "Delete" });
        }
      },
    }),
    sources: [fromCache(operatorConfigs, (change) => (affectsNodes(change) ? [operatorConfigName] : []))],
  });
}

/** Concerns the one config, there or not: without it, what is left of it has to go. That all is synced, others see to. */
function wakes(subscribe: (wake: () => void) => () => void): Source {
  return {
    start: (enqueue) =>
      subscribe(() => {
        enqueue(operatorConfigName);
      }),
    whenSynced: () => Promise.resolve(),
  };
}
