// SPDX-License-Identifier: Apache-2.0
/**
 * createLiveView builds the ClusterView of admission from the caches. It builds a view once after each change of a cache,
 * not once for each review. A view never changes: a review uses one view to its end, whatever changes meanwhile.
 */
import type { ClusterView, NodeForReview } from "@switchyard/admission";
import { operatorConfigName } from "@switchyard/api";
import { parseNicRow, supportedNics, unlistedNics, type SupportedNic } from "@switchyard/policy";
import type { ClusterCaches } from "./cluster-caches.ts";
import type { PodUsers } from "./pod-users.ts";

export interface LiveViewOptions {
  readonly namespace: string;
  /** Upstream's DEV_MODE: all NICs count as supported. */
  readonly devMode: boolean;
  /** Undefined if pods are not counted. */
  readonly pods?: PodUsers | undefined;
}

/** Subscribes to the caches; there is no way to unsubscribe. */
export function createLiveView(
  caches: Omit<ClusterCaches, keyof AsyncDisposable>,
  { namespace, devMode, pods }: LiveViewOptions,
): () => ClusterView {
  const { nodes, states, policies, pools, operatorConfigs, machineConfigPools, nicLists } = caches;
  const { afxdpPolicies, afxdpConfigs, afxdpStates } = caches;
  let current: ClusterView | undefined;
  let nodesForReview: readonly NodeForReview[] | undefined;
  // The same array as long as its content is the same: admission compares it by identity in its cache.
  let known: readonly SupportedNic[] | undefined;
  const forget = (): void => {
    current = undefined;
  };
  const forgetNodes = (): void => {
    current = undefined;
    nodesForReview = undefined;
  };
  for (const cache of [nodes, states]) cache.subscribe(forgetNodes);
  for (const cache of [policies, pools, operatorConfigs, afxdpPolicies, afxdpConfigs, afxdpStates]) {
    cache.subscribe(forget);
  }
  machineConfigPools?.subscribe(forget);
  nicLists.subscribe(() => {
    current = undefined;
    known = undefined;
  });

  return () => {
    if (current !== undefined) return current;
    nodesForReview ??= nodes.list().map((node) => ({ ...node, state: states.get(node.name) }));
    const operatorConfig = operatorConfigs.get(operatorConfigName);
    known ??= [...supportedNics, ...nicLists.list().flatMap(readRows)];
    current = {
      namespace,
      nodes: nodesForReview,
      policies: policies.list(),
      pools: pools.list(),
      operatorConfig,
      nics: { known, unlisted: devMode ? "any" : unlistedNics(operatorConfig) },
      afxdp: {
        policies: afxdpPolicies.list(),
        operatorConfig: afxdpConfigs.get(operatorConfigName),
        states: new Map(afxdpStates.list().map(({ name, status }) => [name, status])),
      },
      // Read for each review: neither the first list nor a change of "served" tells subscribers.
      get machineConfigPools() {
        if (machineConfigPools?.served !== true) return "not-served" as const;
        return machineConfigPools.synced ? machineConfigPools.list() : undefined;
      },
      // Read for each review: a change of "served" tells nobody.
      get lacksClaims() {
        return pods?.lacksClaims;
      },
      // Read for each review: pods change all the time.
      get podsOn() {
        return pods?.synced === true ? pods.on : undefined;
      },
    };
    return current;
  };
}

function readRows(rows: readonly string[]): readonly SupportedNic[] {
  return rows.flatMap((row) => parseNicRow(row) ?? []);
}
