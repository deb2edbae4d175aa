// SPDX-License-Identifier: Apache-2.0
/** viewOf builds the ClusterView of admission from the input, as the webhook does from its caches. */
import { createStateReader, readPod, type ClusterView } from "@switchyard/admission";
import { podUse, type PodUse } from "@switchyard/policy";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";
import { deviceLookupOf } from "../cluster/evicted-pods.ts";
import { machineConfigPoolsIn } from "../ovn-offload/select-in-input.ts";

export interface ViewOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  /** Prefix of resource names, the part before the slash. */
  readonly resourcePrefix: string;
  /** Whether the input contains the pods of the cluster. If not, warnings do not count pods. */
  readonly arePodsKnown: boolean;
  readonly clusterType: "kubernetes" | "openshift";
}

export function viewOf(cluster: ClusterObjects, options: ViewOptions): ClusterView {
  const { namespace, resourcePrefix, arePodsKnown } = options;
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
  const factsFor = deviceLookupOf(cluster);
  const podsOn = (node: string): readonly PodUse[] =>
    (users.get(node) ?? []).map((pod) => podUse(pod.devices, factsFor(pod)));
  return {
    namespace,
    nodes,
    policies,
    pools,
    operatorConfig,
    machineConfigPools: machineConfigPoolsIn(cluster, options),
    nics: nicPolicyOf(cluster),
    ...(arePodsKnown && { podsOn }),
    afxdp: {
      policies: cluster.afxdp.policies,
      operatorConfig: cluster.afxdp.operatorConfig,
      states: new Map(
        [...cluster.afxdp.states].map(([name, { spec, status = {} }]) => [name, { ...status, assigned: spec }]),
      ),
    },
  };
}
