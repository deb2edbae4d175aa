// SPDX-License-Identifier: Apache-2.0
/**
 * The cluster as the caches have it now, put together once for each change and not once for each review. A view is never
 * changed: a review that has one is judged by it to its end, whatever comes in meanwhile.
 * Usage: `const view = createLiveView(caches, { namespace, devMode }); view()`.
 */
import type { ClusterView, NodeFacts } from "@switchyard/admission";
import { operatorConfigName } from "@switchyard/api";
import { parseNicRow, supportedNics, unlistedNics, type SupportedNic } from "@switchyard/policy";
import type { ClusterCaches } from "./caches.ts";
import type { PodUsers } from "./pod-users.ts";

export interface LiveViewOptions {
  readonly namespace: string;
  /** Upstream's DEV_MODE: any network card will do. */
  readonly devMode: boolean;
  /** Undefined where nobody counts them. */
  readonly pods?: PodUsers | undefined;
}

/** Lives as long as the caches. */
export function createLiveView(
  caches: Omit<ClusterCaches, keyof AsyncDisposable>,
  { namespace, devMode, pods }: LiveViewOptions,
): () => ClusterView {
  const { nodes, states, policies, pools, operatorConfigs, nicLists } = caches;
  let current: ClusterView | undefined;
  let nodeFacts: readonly NodeFacts[] | undefined;
  // The same array while it is the same: what is remembered of policies and cards depends on it.
  let known: readonly SupportedNic[] | undefined;
  const forget = (): void => {
    current = undefined;
  };
  const forgetNodes = (): void => {
    current = undefined;
    nodeFacts = undefined;
  };
  for (const cache of [nodes, states]) cache.subscribe(forgetNodes);
  for (const cache of [policies, pools, operatorConfigs]) cache.subscribe(forget);
  nicLists.subscribe(() => {
    current = undefined;
    known = undefined;
  });

  return () => {
    if (current !== undefined) return current;
    nodeFacts ??= nodes.list().map((node) => ({ ...node, state: states.get(node.name) }));
    const operatorConfig = operatorConfigs.get(operatorConfigName);
    known ??= [...supportedNics, ...nicLists.list().flatMap(readRows)];
    current = {
      namespace,
      nodes: nodeFacts,
      policies: policies.list(),
      pools: pools.list(),
      operatorConfig,
      nics: { known, unlisted: devMode ? "any" : unlistedNics(operatorConfig) },
      // Pods change all the time, and decide nothing.
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
