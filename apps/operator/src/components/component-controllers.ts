// SPDX-License-Identifier: Apache-2.0
/**
 * startComponentControllers starts "operator-config", which deploys the components, "afxdp-config", "hardware-offload", and on
 * OpenShift "systemd-mode".
 * Usage: `startComponentControllers(context);`
 */
import {
  afxdpOperatorConfigs,
  apiGroup,
  operatorConfigName,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  upstreamFinalizers,
  type AfxdpOperatorConfig,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createWriter, fromCache, removeFinalizer, type Change, type KubeObject, type Source } from "@switchyard/kube";
import {
  isControlPlaneExternal,
  isSystemdMode,
  renderComponents,
  systemdModeConfigName,
  type ComponentSettings,
} from "@switchyard/render";
import { createAfxdpConfigReconciler, type AfxdpComponentsState } from "../afxdp/afxdp-config-reconciler.ts";
import { fieldManagers } from "../field-managers.ts";
import { affectsNodes } from "../node-states/affected-nodes.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { limitRate } from "../status/limit-rate.ts";
import { createTransitionEvents } from "../status/transition-events.ts";
import type { WatchedComponentObjects } from "./component-objects.ts";
import { createComponentWriters } from "./component-writers.ts";
import { configExists } from "./config-exists.ts";
import { changesControlPlane } from "./control-plane-changes.ts";
import { changesOffload, createHardwareOffloadReconciler } from "./openshift/hardware-offload-reconciler.ts";
import { createMachineConfigs, type MachineConfigs } from "./openshift/machine-configs.ts";
import { createSystemdModeReconciler, type SystemdModeChange } from "./openshift/systemd-mode-reconciler.ts";
import { isKindServed } from "./kind-served.ts";
import { createOperatorConfigReconciler } from "./operator-config-reconciler.ts";
import { pendingRollout } from "./rollout.ts";

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
  context.start(operatorConfigController(context));
  context.start(afxdpConfigController(context));
  context.start(hardwareOffloadController(context, machineConfigs));
  if (machineConfigs !== undefined) context.start(systemdModeController(context, machineConfigs));
}

function operatorConfigController(context: OperatorContext): ControllerDefinition {
  const { transport, caches, settings, events, log } = context;
  const { nodes, operatorConfigs, afxdpConfigs, componentObjects, clusterFacts } = caches;
  const { namespace } = settings;
  const type = sriovOperatorConfigs;
  const reconcile = createOperatorConfigReconciler({
    configs: operatorConfigs,
    settings: () => settingsIn(context),
    afxdp: () => existing(afxdpConfigs.get(operatorConfigName)),
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
  const limited = limitRate(reconcile, { intervalMs, nowMs: () => performance.now() });
  return {
    name: "operator-config",
    async reconcile(key, signal) {
      // Without the kind there is no config, and what was deployed is removed: one 404 of a list is not enough for that.
      if (!operatorConfigs.served && (await isKindServed(transport, type, signal))) return recheckKinds;
      return limited(key, signal);
    },
    parallel: 2,
    deadlineMs: 120_000,
    reads: [operatorConfigs, afxdpConfigs, nodes, componentObjects, clusterFacts],
    sources: [
      fromCache(operatorConfigs, ({ key }) => [key]),
      fromCache(afxdpConfigs, ({ key }) => (key === operatorConfigName ? [key] : [])),
      fromCache(nodes, (change) => (changesControlPlane(change) ? [operatorConfigName] : [])),
      enqueuesConfig((enqueue) => subscribeToComponents(componentObjects, enqueue)),
      enqueuesConfig((enqueue) => clusterFacts.subscribe(enqueue)),
    ],
  };
}

/** Reports how the components for AF_XDP are deployed, which operatorConfigController does. */
function afxdpConfigController(context: OperatorContext): ControllerDefinition {
  const { transport, caches, settings, events } = context;
  const { operatorConfigs, afxdpConfigs, componentObjects, clusterFacts } = caches;
  const reconcile = createAfxdpConfigReconciler({
    configs: afxdpConfigs,
    state: (config) => afxdpComponentsState(config, existing(operatorConfigs.get(operatorConfigName)), context),
    writer: createWriter<AfxdpOperatorConfig>({
      ...{ transport, type: afxdpOperatorConfigs, namespace: settings.namespace },
      manager: fieldManagers.operatorConfigStatus,
      cache: afxdpConfigs,
    }),
    recordTransition: createTransitionEvents(events),
    now: () => new Date(),
  });
  return {
    name: "afxdp-config",
    parallel: 1,
    reads: [operatorConfigs, afxdpConfigs, componentObjects, clusterFacts],
    async reconcile(key, signal) {
      const requeue = await reconcile(key, signal);
      return requeue ?? (operatorConfigs.served || !afxdpConfigs.served ? undefined : recheckKinds);
    },
    sources: [
      fromCache(afxdpConfigs, ({ key }) => [key]),
      fromCache(operatorConfigs, ({ key }) => (key === operatorConfigName ? [key] : [])),
      enqueuesConfig((enqueue) => subscribeToComponents(componentObjects, enqueue)),
    ],
  };
}

function afxdpComponentsState(
  afxdp: AfxdpOperatorConfig,
  config: SriovOperatorConfig | undefined,
  context: OperatorContext,
): AfxdpComponentsState {
  if (config === undefined) {
    const missing = `SriovOperatorConfig "${operatorConfigName}" does not exist in this namespace`;
    const why = context.caches.operatorConfigs.served ? "" : `, because the kinds of ${apiGroup} are not installed`;
    return { problems: [`${missing}${why}: nothing is deployed`], isDeployed: false, pending: undefined };
  }
  const { components, problems } = renderComponents(config, settingsIn(context), afxdp);
  const { componentObjects } = context.caches;
  const name = "afxdp-device-plugin";
  const objects = components.find((component) => component.name === name)?.objects ?? [];
  const daemonSet = objects.find(({ kind }) => kind === "DaemonSet");
  const seen = daemonSet && componentObjects.seen(componentObjects.itemOf(daemonSet));
  return {
    problems: problems
      .filter(({ component }) => component === name)
      .map(({ field, message }) => `${field}: ${message}`),
    isDeployed: seen !== undefined,
    pending: daemonSet && pendingRollout(name, seen?.rollout),
  };
}

/** Returns the settings for the current state of the cluster. */
function settingsIn({ caches: { clusterFacts, nodes }, settings }: OperatorContext): ComponentSettings {
  return {
    ...settings.components,
    tls: clusterFacts.tls() ?? settings.components.tls,
    isControlPlaneExternal: clusterFacts.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list()),
  };
}

/** Returns undefined for an object that is being deleted. */
function existing<Config extends KubeObject>(config: Config | undefined): Config | undefined {
  return config?.metadata.deletionTimestamp === undefined ? config : undefined;
}

function subscribeToComponents({ watches }: WatchedComponentObjects, enqueue: () => void): () => void {
  const ends = watches.map(({ cache }) => {
    return cache.subscribe(({ before, after }) => {
      if (before !== undefined || after !== undefined) enqueue();
    });
  });
  return () => {
    for (const end of ends) end();
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
