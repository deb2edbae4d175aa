// SPDX-License-Identifier: Apache-2.0
/**
 * startDevicePluginControllers starts "device-plugin-label", which sets the node label that the device plugin's
 * DaemonSet selects, and "device-plugin-configmap", which writes upstream's ConfigMap if requested.
 */
import {
  configMaps as configMapType,
  defined,
  nodes as nodeType,
  sriovOperatorConfigs,
  upstreamManager,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createWriter, fromCache, patchMetadata, type Controller, type Source } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";
import { fieldManagers } from "../field-managers.ts";
import type { OperatorContext } from "../operator-context.ts";
import { limitRate } from "../controller-pace.ts";
import { affectsNodes, nodeAffectedByState } from "../results/affected-nodes.ts";
import { createConfigMapReconciler } from "./config-map-reconciler.ts";
import { configMapName, type ConfigMap } from "../facts/config-map-watches.ts";
import { createNodeLabelReconciler, nodeAffectedByResources } from "./node-label-reconciler.ts";

/** Least time between two writes of the ConfigMap, which contains all nodes. */
const configMapIntervalMs = 1_000;

/** Enough to write as quickly as the API server takes it, with connections to spare for drains. */
const parallelLabels = 16;

/** Enough time to write the node states of the largest fleets. */
const longestWriteMs = 600_000;

/** `nodeStates` is the controller of node states. */
export function startDevicePluginControllers(context: OperatorContext, nodeStates: Pick<Controller, "whenIdle">): void {
  const { transport, caches, rules, now, start } = context;
  const { namespace, writeConfigMap } = context.settings;
  const { nodes, policies, pools, operatorConfigs, states, configMaps, nicList } = caches;
  const reads = [nodes, policies, pools, operatorConfigs, states, nicList];

  start({
    name: "device-plugin-label",
    about: "node",
    parallel: parallelLabels,
    deadlineMs: longestWriteMs,
    reads,
    reconcile: createNodeLabelReconciler({
      nodes,
      states,
      rules,
      whenStatesAreWritten: () => nodeStates.whenIdle(),
      patch: (object, changes, signal) => patchMetadata({ transport, type: nodeType, object, ...changes, signal }),
    }),
    sources: [
      fromCache(nodes, ({ key }) => [key]),
      fromCache(states, nodeAffectedByResources),
      fromCache(operatorConfigs, (change) => (affectsNodes(change) ? nodes.keys() : [])),
    ],
  });

  const written = configMaps.written;
  const configMapChanges = (changed: (enqueue: (key: string) => void) => () => void): Source => ({
    start: changed,
    whenSynced: (signal) => configMaps.whenSynced(signal),
  });
  start({
    name: "device-plugin-configmap",
    parallel: 1,
    reads: [...reads, configMaps],
    reconcile: limitRate(
      createConfigMapReconciler({
        nodes,
        states,
        operatorConfigs,
        rules,
        namespace,
        isWanted: writeConfigMap,
        writer: createWriter<ConfigMap>({
          transport,
          namespace,
          type: configMapType,
          manager: fieldManagers.devicePluginConfigMap,
          ...defined({ cache: written }),
          adopts: [upstreamManager],
        }),
        statusWriter: createWriter<SriovOperatorConfig>({
          transport,
          namespace,
          type: sriovOperatorConfigs,
          manager: fieldManagers.devicePluginConfigMap,
          cache: operatorConfigs,
        }),
        now,
      }),
      { intervalMs: configMapIntervalMs, nowMs: () => performance.now() },
    ),
    sources: [
      fromCache(operatorConfigs, () => [configMapName]),
      ...(writeConfigMap
        ? [
            configMapChanges((enqueue) =>
              configMaps.subscribe(() => {
                enqueue(configMapName);
              }),
            ),
            fromCache(nodes, () => [configMapName]),
            fromCache(nicList, () => [configMapName]),
            fromCache(policies, ({ before, after }) =>
              isDeepStrictEqual(before?.spec, after?.spec) ? [] : [configMapName],
            ),
            fromCache(states, (change) => nodeAffectedByState(change).map(() => configMapName)),
          ]
        : []),
    ],
  });
}
