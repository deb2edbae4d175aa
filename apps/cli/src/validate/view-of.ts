// SPDX-License-Identifier: Apache-2.0
/**
 * The input as admission sees a cluster; the webhook makes the same of its caches.
 * Usage: `admit(review, viewOf(cluster, { namespace, resourcePrefix, arePodsKnown: false }), options)`.
 */
import { createStateReader, readPod, type ClusterView } from "@switchyard/admission";
import {
  createDeviceFacts,
  podUse,
  readAllocation,
  readSlice,
  statusPfs,
  toPfAddresses,
  type PodUse,
} from "@switchyard/policy";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";
import { textAt } from "../json.ts";

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
  const factsFor = deviceFactsOf(cluster);
  const podsOn = (node: string): readonly PodUse[] =>
    (users.get(node) ?? []).map((pod) => podUse(pod.devices, factsFor(pod)));
  return {
    ...{ namespace, nodes, policies, pools, operatorConfig },
    nics: nicPolicyOf(cluster),
    ...(arePodsKnown && { podsOn }),
  };
}

/** Input without any claims, as of a cluster that does not serve them, has none to look for. */
function deviceFactsOf({ claims, slices, states }: ClusterObjects): ReturnType<typeof createDeviceFacts> {
  const allocations = new Map(
    claims.map(({ metadata, ...claim }) => {
      return [`${textAt(metadata, "namespace") ?? ""}/${textAt(metadata, "name") ?? ""}`, readAllocation(claim)];
    }),
  );
  return createDeviceFacts({
    slices: slices.flatMap((slice) => readSlice(slice) ?? []),
    devicesOf: (namespace, claim) => (claims.length === 0 ? [] : allocations.get(`${namespace}/${claim}`)),
    pfsOf: (node) => toPfAddresses(statusPfs(states.get(node)?.status)),
  });
}
