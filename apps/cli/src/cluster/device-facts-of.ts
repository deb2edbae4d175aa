// SPDX-License-Identifier: Apache-2.0
/**
 * deviceFactsOf collects what the claims and slices of a cluster say about the devices of its pods.
 * Usage: `podUse(devices, deviceFactsOf(cluster)({ node, namespace }))`.
 */
import { createDeviceFacts, readAllocation, readSlice, statusPfs, toPfAddresses } from "@switchyard/policy";
import { textAt } from "../json.ts";
import type { ClusterObjects } from "./cluster-objects.ts";

/** Without claims in the input, pods count as having no devices allocated by claims. */
export function deviceFactsOf({
  claims,
  slices,
  states,
}: Pick<ClusterObjects, "claims" | "slices" | "states">): ReturnType<typeof createDeviceFacts> {
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
