// SPDX-License-Identifier: Apache-2.0
/**
 * The input as admission sees a cluster; the webhook makes the same of its caches.
 * Usage: `admit(review, viewOf(cluster, { namespace, resourcePrefix, arePodsKnown: false }), options)`.
 */
import { createStateReader, readPod, type ClusterView, type PodFacts } from "@switchyard/admission";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";

export interface ViewOptions {
  /** The operator's. */
  readonly namespace: string;
  /** What pods write before resource names. */
  readonly resourcePrefix: string;
  /** Whether the input has all pods that matter: without any, nothing is said of them. */
  readonly arePodsKnown: boolean;
}

export function viewOf(cluster: ClusterObjects, { namespace, resourcePrefix, arePodsKnown }: ViewOptions): ClusterView {
  const { policies, pools, operatorConfig } = cluster;
  const read = createStateReader();
  const nodes = cluster.nodes.map(({ metadata: { name, labels = {} } }) => {
    const state = cluster.states.get(name);
    return { name, labels, state: state && read(state) };
  });
  const users = Map.groupBy(
    cluster.pods.flatMap((pod) => readPod(pod, resourcePrefix) ?? []),
    ({ node }) => node,
  );
  const podsOn = (node: string): readonly PodFacts[] => (users.get(node) ?? []).map(({ resources }) => resources);
  return {
    ...{ namespace, nodes, policies, pools, operatorConfig },
    nics: nicPolicyOf(cluster),
    ...(arePodsKnown && { podsOn }),
  };
}
