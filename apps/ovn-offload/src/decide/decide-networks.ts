// SPDX-License-Identifier: Apache-2.0
/**
 * decideNetworks returns the writes that give each resource of the hosts' SmartNICs a NetworkAttachmentDefinition, by which pods get
 * a VF as their default interface. It names what the stored policies of ovn-offload say, since users can change the resource.
 */
import { labels } from "@switchyard/api";
import { isOfOvnOffload, offloadNetworks } from "@switchyard/render";
import { needsShared, type AssignedHost } from "./host.ts";
import type { ObservedCluster, OffloadWrite } from "./observed.ts";

export interface NetworkDecision {
  readonly writes: readonly OffloadWrite[];
  /** Names of ovn-offload's that networks of others have. */
  readonly problems: readonly string[];
}

export function decideNetworks(
  { networks: { at, present }, policies, resourcePrefix }: ObservedCluster,
  hosts: readonly AssignedHost[],
): NetworkDecision {
  if (present === undefined) return { writes: [], problems: [] };
  const pools = new Set(hosts.filter(needsShared).map(({ pool }) => pool));
  const ofPools = policies.filter((policy) => isOfOvnOffload(policy) && pools.has(poolOf(policy)));
  const resources = ofPools.map(({ spec }) => `${resourcePrefix}/${spec.resourceName}`);
  const { writes, unneeded, problems } = offloadNetworks(resources, present, at);
  // While the policy of a pool is missing, its resource is not known: then no network changes or goes.
  const isKnown = [...pools].every((pool) => ofPools.some((policy) => poolOf(policy) === pool));
  return {
    writes: [
      ...writes
        .filter(({ resourceVersion }) => isKnown || resourceVersion === undefined)
        .map((write) => ({ kind: "write-network" as const, ...write })),
      ...(isKnown ? unneeded : []).map(({ name, resourceVersion }) => {
        return { kind: "delete-network" as const, namespace: at.namespace, name, resourceVersion };
      }),
    ],
    problems,
  };
}

function poolOf({ metadata }: ObservedCluster["policies"][number]): string {
  return metadata.labels?.[labels.ovnOffloadPool] ?? "";
}
