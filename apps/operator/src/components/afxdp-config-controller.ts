// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpConfigController reports how the components for AF_XDP are deployed. The controller "operator-config" deploys them: for
 * the SriovOperatorConfig together with all other components, or without one, for the AfxdpOperatorConfig alone. It tells an
 * AfxdpReport how that went.
 */
import { afxdpOperatorConfigs, operatorConfigName, type AfxdpOperatorConfig } from "@switchyard/api";
import { createWriter, fromCache } from "@switchyard/kube";
import { afxdpProviderOf, nodeSetLabels } from "@switchyard/policy";
import { afxdpComponents, placementProblems, renderComponents } from "@switchyard/render";
import { changesPlacement, enqueuesConfig, existing, settingsIn, subscribeToComponents } from "./component-sources.ts";
import { pendingRollout } from "./rollout.ts";
import { fieldManagers } from "../field-managers.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import { createTransitionEvents } from "../reports/transition-events.ts";
import { whenInstalled } from "../afxdp/bpfman/bpfman-controller.ts";
import { bpfmanKind } from "../afxdp/bpfman/bpfman-reconciler.ts";
import { createAfxdpConfigReconciler, devicePluginSummary } from "./afxdp-config-reconciler.ts";

/** The outcome of the last deployment for an AfxdpOperatorConfig alone; undefined if there was none, or a SriovOperatorConfig exists. */
export interface AfxdpReport {
  readonly get: () => ConditionSummary | undefined;
  readonly set: (summary: ConditionSummary | undefined) => void;
  /** Calls `onChange` after each set. Returns a function that ends this. */
  readonly subscribe: (onChange: () => void) => () => void;
}

export function createAfxdpReport(): AfxdpReport {
  let last: ConditionSummary | undefined;
  const listeners = new Set<() => void>();
  return {
    get: () => last,
    set(summary) {
      last = summary;
      for (const listener of listeners) listener();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

export function afxdpConfigController(context: OperatorContext, report: AfxdpReport): ControllerDefinition {
  const { transport, caches, settings, events, now } = context;
  const { nodes, operatorConfigs, afxdpConfigs, componentObjects, clusterSettings } = caches;
  const reconcile = createAfxdpConfigReconciler({
    configs: afxdpConfigs,
    components: (config) => summaryOf(config, report.get(), context),
    hasBpfman: () => bpfmanKind(caches) !== undefined,
    writer: createWriter<AfxdpOperatorConfig>({
      transport,
      type: afxdpOperatorConfigs,
      namespace: settings.namespace,
      manager: fieldManagers.operatorConfigStatus,
      cache: afxdpConfigs,
    }),
    recordTransition: createTransitionEvents(events),
    now,
  });
  return {
    name: "afxdp-config",
    parallel: 1,
    reads: [nodes, operatorConfigs, afxdpConfigs, componentObjects, clusterSettings],
    reconcile,
    sources: [
      fromCache(afxdpConfigs, ({ key }) => [key]),
      fromCache(operatorConfigs, ({ key }) => (key === operatorConfigName ? [key] : [])),
      fromCache(nodes, (change) =>
        changesPlacement(change, nodeSetLabels(afxdpConfigs.get(operatorConfigName))) ? [operatorConfigName] : [],
      ),
      enqueuesConfig((enqueue) => subscribeToComponents(componentObjects, enqueue)),
      enqueuesConfig((enqueue) => report.subscribe(enqueue)),
      whenInstalled(caches, () => [operatorConfigName]),
    ],
  };
}

function summaryOf(
  afxdp: AfxdpOperatorConfig,
  alone: ConditionSummary | undefined,
  context: OperatorContext,
): ConditionSummary {
  const { operatorConfigs, componentObjects } = context.caches;
  const sriov = existing(operatorConfigs.get(operatorConfigName));
  if (sriov === undefined) return alone ?? notYetDeployed(afxdp);
  const { components, problems } = renderComponents({ sriov, afxdp }, settingsIn(context));
  const name = afxdpComponents[afxdpProviderOf(afxdp)];
  const own = components.filter((component) => component.name === name);
  const objects = own.flatMap((component) => component.objects);
  const daemonSet = objects.find(({ kind }) => kind === "DaemonSet");
  const seen = daemonSet && componentObjects.seen(componentObjects.itemOf(daemonSet));
  return devicePluginSummary({
    name,
    problems: problems
      .filter(({ component }) => component === name)
      .map(({ field, message }) => `${field}: ${message}`),
    isDeployed: seen !== undefined,
    pending: daemonSet && pendingRollout(name, seen?.rollout),
    unplaced: placementProblems(own, context.caches.nodes.list()),
  });
}

function notYetDeployed(afxdp: AfxdpOperatorConfig): ConditionSummary {
  const name = afxdpComponents[afxdpProviderOf(afxdp)];
  return devicePluginSummary({ name, problems: [], isDeployed: false, pending: undefined });
}
