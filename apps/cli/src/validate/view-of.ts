// SPDX-License-Identifier: Apache-2.0
/**
 * The input as admission sees a cluster; the webhook makes the same of its caches.
 * Usage: `admit(review, viewOf(cluster, namespace), options)`.
 */
import { createStateReader, supportedNics, unlistedNics, type ClusterView } from "@switchyard/admission";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";

export function viewOf(cluster: ClusterObjects, namespace: string): ClusterView {
  const { policies, pools, operatorConfig } = cluster;
  const read = createStateReader();
  const nodes = cluster.nodes.map(({ metadata: { name, labels = {} } }) => {
    const state = cluster.states.get(name);
    return { name, labels, state: state && read(state.status) };
  });
  return {
    ...{ namespace, nodes, policies, pools, operatorConfig },
    nics: { known: [...supportedNics, ...cluster.nics], unlisted: unlistedNics(operatorConfig) },
  };
}
