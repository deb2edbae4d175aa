// SPDX-License-Identifier: Apache-2.0
/**
 * deviceFactsOf collects what the claims and slices of a cluster say about the devices of its pods.
 * Usage: `podUse(devices, deviceFactsOf(cluster)({ node, namespace }))`.
 */
import {
  createDeviceFacts,
  readAllocation,
  readSlice,
  statusPfs,
  toPfAddresses,
  type AllocatedDevice,
} from "@switchyard/policy";
import { textAt } from "../json.ts";
import type { ClusterObjects } from "./cluster-objects.ts";

/** The devices of ResourceClaims by "namespace/name". */
export function allocationsIn(claims: ClusterObjects["claims"]): ReadonlyMap<string, readonly AllocatedDevice[]> {
  return new Map(
    claims.map((claim) => {
      const { metadata } = claim;
      return [`${textAt(metadata, "namespace") ?? ""}/${textAt(metadata, "name") ?? ""}`, readAllocation(claim)];
    }),
  );
}

/** Without claims in the input, pods count as having no devices allocated by claims. */
export function deviceFactsOf({
  claims,
  slices,
  states,
}: Pick<ClusterObjects, "claims" | "slices" | "states">): ReturnType<typeof createDeviceFacts> {
  const allocations = allocationsIn(claims);
  return createDeviceFacts({
    slices: slices.flatMap((slice) => readSlice(slice) ?? []),
    devicesOf: (namespace, claim) => (claims.length === 0 ? [] : allocations.get(`${namespace}/${claim}`)),
    pfsOf: (node) => toPfAddresses(statusPfs(states.get(node)?.status)),
  });
}
