// SPDX-License-Identifier: Apache-2.0
/**
 * withClaimedVfs finds the pods of a node that use VFs by ResourceClaims (dynamic resource allocation).
 * Usage: `const pods = withClaimedVfs(podsOfNode, { factsFor, node: "worker-1", isManaged: managedPfs(spec, pfs) })`.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { PlacedPod } from "./device-facts.ts";
import type { DrainedPod } from "./drained-pod.ts";
import type { PfAddresses } from "./pf-addresses.ts";
import { podUse, usesAny, type DeviceFacts } from "./pod-use.ts";

export interface ClaimSources {
  readonly node: string;
  readonly factsFor: (pod: PlacedPod) => DeviceFacts;
  /** Reports whether the daemon may change the PF with this PCI address. */
  readonly isManaged: (pf: string) => boolean;
}

/** Returns the pods, with `holdsVfs` set for those whose claims contain, or may contain, VFs of managed PFs. */
export function withClaimedVfs(pods: readonly DrainedPod[], sources: ClaimSources): readonly DrainedPod[] {
  const { node, factsFor, isManaged } = sources;
  return pods.map((pod) => {
    if (pod.holdsVfs || pod.claims.length === 0) return pod;
    const use = podUse({ resources: [], claims: pod.claims }, factsFor({ node, namespace: pod.namespace }));
    return usesAny(use, isManaged) ? { ...pod, holdsVfs: true } : pod;
  });
}

/** PFs that the daemon may change: they are in the spec or have VFs. Pods may keep all other PFs. */
export function managedPfs(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  pfs: readonly PfAddresses[],
): (pf: string) => boolean {
  const withVfs = pfs.filter(({ vfs }) => vfs.length > 0).map(({ pf }) => pf);
  const managed = new Set([...interfaces.map(({ pciAddress }) => pciAddress), ...withVfs]);
  return (pf) => managed.has(pf);
}
