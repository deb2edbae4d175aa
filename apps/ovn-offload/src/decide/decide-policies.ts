// SPDX-License-Identifier: Apache-2.0
/** decidePolicies returns the writes that give each pool one policy for each model of its SmartNICs. */
import { labels } from "@switchyard/api";
import { defaultSmartNicVfs } from "@switchyard/plan";
import type { OffloadPool } from "@switchyard/policy";
import { isOfOvnOffload, ovnOffloadPolicy, ovnOffloadPolicyName, type OffloadPolicy } from "@switchyard/render";
import { isDeepStrictEqual } from "node:util";
import { needsShared, type AssignedHost } from "./host.ts";
import type { ObservedCluster, OffloadWrite } from "./observed.ts";

export interface PolicyDecision {
  readonly writes: readonly OffloadWrite[];
  /** Policies of other programs that have names of ovn-offload's. */
  readonly problems: readonly string[];
}

/**
 * Policies exist for each model in a pool. They stay until no host of the pool needs them, or until all nodes of the pool report
 * a SmartNIC of another model.
 */
export function decidePolicies(
  { policies, lostPolicies, namespace }: ObservedCluster,
  pools: readonly OffloadPool[],
  { hosts, managementVfs }: { readonly hosts: readonly AssignedHost[]; readonly managementVfs: number },
): PolicyDecision {
  const lost = new Map(lostPolicies.map((policy) => [policy.metadata.name, policy]));
  const present = new Map(policies.map((policy) => [policy.metadata.name, policy]));
  const problems: string[] = [];
  const wanted = new Set<string>();
  const writes: OffloadWrite[] = [];
  const isSelected = new Set(pools.map(({ name }) => name));
  const inUse = Map.groupBy(hosts.filter(needsShared), ({ pool }) => pool);
  for (const [pool, ofPool] of inUse) {
    for (const model of new Set(ofPool.flatMap(({ cards = [] }) => (cards.length === 1 ? cards : [])))) {
      const name = ovnOffloadPolicyName(pool, model);
      const stored = present.get(name);
      const settings = stored ?? lost.get(name);
      const numVfs = defaultNumVfs(ofPool, model, managementVfs);
      wanted.add(name);
      if (stored !== undefined && !isOfOvnOffload(stored)) {
        problems.push(`SriovNetworkNodePolicy ${name} was created by another program: delete or rename it`);
      } else if (isSelected.has(pool) && (settings !== undefined || numVfs > managementVfs)) {
        const policy = ovnOffloadPolicy({ pool, model, namespace, numVfs, ...(settings && { present: settings }) });
        const tooFew = vfsMissing(policy, managementVfs);
        if (tooFew !== undefined) problems.push(tooFew);
        if (stored !== undefined && isSamePolicy(stored, policy)) continue;
        writes.push({ kind: "apply-policy", policy });
      }
    }
  }
  const isKnown = poolsOfKnownModels(pools, hosts);
  for (const policy of policies) {
    const { metadata } = policy;
    const pool = metadata.labels?.[labels.ovnOffloadPool];
    if (!isOfOvnOffload(policy) || pool === undefined || wanted.has(metadata.name)) continue;
    const isUsed = isSelected.has(pool) || inUse.has(pool);
    if (isUsed && !isKnown.has(pool)) continue;
    writes.push({ kind: "delete-policy", name: metadata.name, uid: metadata.uid });
  }
  return { writes, problems };
}

/** Returns the number of VFs of a new policy; 0 if no card of the model can have the VFs that OVN needs. */
function defaultNumVfs(hosts: readonly AssignedHost[], model: string, managementVfs: number): number {
  const ofModel = hosts.filter(({ cards }) => cards?.length === 1 && cards[0] === model);
  return defaultSmartNicVfs(
    ofModel.flatMap(({ vfLimit }) => vfLimit ?? []),
    managementVfs,
  );
}

function vfsMissing({ metadata, spec: { numVfs } }: OffloadPolicy, managementVfs: number): string | undefined {
  if (numVfs > managementVfs) return undefined;
  const ports = managementVfs === 1 ? "1 VF is the management port" : `${managementVfs} VFs are the management ports`;
  return (
    `SriovNetworkNodePolicy ${metadata.name} has numVfs ${numVfs}, but ${ports} of OVN-Kubernetes: ` +
    `set numVfs to at least ${managementVfs + 1}`
  );
}

/** Returns the pools whose nodes all report exactly one SmartNIC. A card that is not reported can be there. */
function poolsOfKnownModels(pools: readonly OffloadPool[], hosts: readonly AssignedHost[]): ReadonlySet<string> {
  const byPool = Map.groupBy(hosts, ({ pool }) => pool);
  const known = pools.filter(({ name, nodes }) => {
    const ofPool = byPool.get(name) ?? [];
    const names = new Set(ofPool.map((host) => host.name));
    // Hosts that are leaving the pool count, too.
    return (
      nodes.length > 0 && nodes.every((node) => names.has(node)) && ofPool.every(({ cards }) => cards?.length === 1)
    );
  });
  return new Set(known.map(({ name }) => name));
}

type Policy = Pick<ObservedCluster["policies"][number], "metadata" | "spec">;

function isSamePolicy(stored: Policy, wanted: Policy): boolean {
  const marks = Object.entries(wanted.metadata.labels ?? {});
  return (
    isDeepStrictEqual(stored.spec, wanted.spec) &&
    marks.every(([key, value]) => stored.metadata.labels?.[key] === value)
  );
}
