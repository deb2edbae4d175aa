// SPDX-License-Identifier: Apache-2.0
/** bpfmanController is the controller "afxdp-bpfman", whose keys are names of nodes (bpfman-reconciler.ts). */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  clusterBpfApplications,
  operatorConfigName,
  xdpPrograms as xdpProgramType,
  type AfxdpNetworkNodeState,
} from "@switchyard/api";
import {
  createWriter,
  equalJson,
  fromCache,
  isKubeError,
  objectPath,
  type CacheChange,
  type Source,
  type Transport,
} from "@switchyard/kube";
import { isKindServed } from "../../facts/cluster-settings.ts";
import { createRecentDeletions } from "../../facts/recent-deletions.ts";
import { fieldManagers } from "../../field-managers.ts";
import { parallelNodes } from "../../controller-pace.ts";
import { createResetHold } from "../../node-states/reset-hold.ts";
import type { ControllerDefinition, OperatorContext } from "../../operator-context.ts";
import { changesRules } from "../../facts/afxdp-live-rules.ts";
import type { AfxdpMergeResults } from "../../results/afxdp-merge-results.ts";
import type { BpfmanCaches, CachedBpfmanObject, BpfmanReport } from "./bpfman-caches.ts";
import { bpfmanKind, createBpfmanReconciler, type BpfmanObject } from "./bpfman-reconciler.ts";

export function bpfmanController(context: OperatorContext, results: AfxdpMergeResults): ControllerDefinition {
  const { transport, caches, afxdpRules: rules, settings, nowMs, signal: stopped } = context;
  const { nodes, afxdpStates, afxdpPolicies, afxdpConfigs, bpfApplications, xdpPrograms } = caches;
  const { bpfApplicationStates, bpfPrograms, clusterSettings } = caches;
  const manager = fieldManagers.bpfmanPrograms;
  const nodeOf = (object: CachedBpfmanObject | undefined): readonly string[] =>
    object?.isOwn === true ? [object.nodeName] : [];
  const allNodes = (): readonly string[] => [
    ...new Set([
      ...nodes.keys(),
      ...afxdpStates.keys(),
      ...[...bpfApplications.list(), ...xdpPrograms.list()].flatMap(nodeOf),
    ]),
  ];
  const ofObject = ({ before, after }: CacheChange<CachedBpfmanObject>) => [...nodeOf(before), ...nodeOf(after)];
  const ofReport =
    (objects: BpfmanCaches["bpfApplications"]) =>
    ({ before, after }: CacheChange<BpfmanReport>) =>
      nodeOf(objects.get((after ?? before)?.ownerName ?? ""));
  const deletions = createRecentDeletions({ caches: [afxdpConfigs], nowMs: () => performance.now() }, stopped);
  const findConfigHold = createResetHold({
    transport,
    type: afxdpOperatorConfigs,
    cache: afxdpConfigs,
    namespace: settings.namespace,
    nowMs,
  });
  return {
    name: "afxdp-bpfman",
    about: "afxdp-node",
    parallel: parallelNodes,
    reads: [
      ...[nodes, afxdpStates, afxdpPolicies, afxdpConfigs],
      ...[bpfApplications, bpfApplicationStates, xdpPrograms, bpfPrograms, clusterSettings],
    ],
    reconcile: createBpfmanReconciler({
      nodes,
      afxdpStates,
      caches,
      rules,
      results,
      nowMs,
      owner: () => clusterSettings.owner(),
      isConfigGone: async (writtenAt, signal) =>
        deletions.remainingMs() === 0 &&
        (await isConfigGone(transport, settings.namespace, signal)) &&
        (await findConfigHold(writtenAt, signal)) === undefined,
      objects: {
        ClusterBpfApplication: createWriter<BpfmanObject>({
          transport,
          manager,
          type: clusterBpfApplications,
          cache: bpfApplications,
        }),
        XdpProgram: createWriter<BpfmanObject>({ transport, manager, type: xdpProgramType, cache: xdpPrograms }),
      },
      states: createWriter<AfxdpNetworkNodeState>({
        transport,
        manager,
        namespace: settings.namespace,
        type: afxdpNetworkNodeStates,
        cache: afxdpStates,
      }),
    }),
    sources: [
      fromCache(nodes, (change) => (changesNode(change) ? [change.key] : [])),
      fromCache(afxdpStates, (change) => (changesPrograms(change) ? [change.key] : [])),
      fromCache(afxdpConfigs, (change) => (changesRules(change) ? allNodes() : [])),
      fromCache(bpfApplications, ofObject),
      fromCache(xdpPrograms, ofObject),
      fromCache(bpfApplicationStates, ofReport(bpfApplications)),
      fromCache(bpfPrograms, ofReport(xdpPrograms)),
      whenInstalled(caches, allNodes),
    ],
  };
}

/** Enqueues keys when bpfman has been installed or removed, of which the caches send no event. */
export function whenInstalled(caches: BpfmanCaches, keys: () => readonly string[]): Source {
  return {
    start(enqueue) {
      let last = bpfmanKind(caches);
      const timer = setInterval(() => {
        const kind = bpfmanKind(caches);
        if (kind === last) return;
        last = kind;
        for (const key of keys()) enqueue(key);
      }, installedMs);
      timer.unref();
      return () => {
        clearInterval(timer);
      };
    },
    whenSynced: () => Promise.resolve(),
  };
}

const installedMs = 500;

/** Resolves with whether the API server serves the kind and has no AfxdpOperatorConfig "default". */
async function isConfigGone(transport: Transport, namespace: string, signal: AbortSignal): Promise<boolean> {
  const path = objectPath(afxdpOperatorConfigs, { name: operatorConfigName, namespace });
  try {
    await transport.request({ method: "GET", path, signal });
    return false;
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
    return isKindServed(transport, afxdpOperatorConfigs, signal);
  }
}

function changesNode({ before, after }: CacheChange<{ readonly metadata: object }>): boolean {
  return !equalJson(before?.metadata, after?.metadata);
}

/** The progress of the node does not matter. */
function changesPrograms({ before, after }: CacheChange<AfxdpNetworkNodeState>): boolean {
  const concerns = (state: AfxdpNetworkNodeState | undefined) =>
    state && {
      uid: state.metadata.uid,
      spec: state.spec,
      interfaces: state.status?.interfaces,
      programs: state.status?.programs,
      bpfman: state.status?.bpfman,
    };
  return !equalJson(concerns(before), concerns(after));
}
