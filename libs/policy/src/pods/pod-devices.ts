// SPDX-License-Identifier: Apache-2.0
/**
 * Which devices a pod names: resources that its containers request, and ResourceClaims (dynamic resource allocation).
 * What they come to on its node, pod-use.ts decides.
 * Usage: `readPodDevices(pod, "openshift.io")` is `{ resources: ["fast"], claims: [] }`.
 */
import { entriesAt, at, listAt, textAt } from "./json-parts.ts";
import { isZeroQuantity } from "./quantity.ts";

export interface PodDevices {
  /** Names of requested resources without their prefix, sorted, each once. */
  readonly resources: readonly string[];
  /** Names of ResourceClaims in the pod's namespace, sorted, each once. */
  readonly claims: readonly string[];
}

/**
 * Reads a Pod of any shape. All resources with the prefix count, not only those of today's policies: a deleted policy takes
 * its resource's name along while pods still hold the VFs.
 */
export function readPodDevices(pod: unknown, resourcePrefix: string): PodDevices {
  return { resources: requestedBy(at(pod, "spec"), `${resourcePrefix}/`), claims: claimsOf(pod) };
}

/** By request or by limit, of any container: for extended resources the two are equal, and either may stand alone. */
function requestedBy(spec: unknown, prefix: string): readonly string[] {
  const containers = containerLists.flatMap((list) => listAt(spec, list));
  const quantities = containers.flatMap((container) => {
    const resources = at(container, "resources");
    return [...entriesAt(resources, "requests"), ...entriesAt(resources, "limits")];
  });
  const names = quantities.flatMap(([name, quantity]) => {
    return name.startsWith(prefix) && !isZeroQuantity(quantity) ? [name.slice(prefix.length)] : [];
  });
  return sorted(names);
}

/** Sidecars are initContainers. */
const containerLists = ["containers", "initContainers", "ephemeralContainers"];

/**
 * Of a claim made from a template, the status has the name. So it has for the claim that the scheduler makes for extended
 * resources of a DeviceClass (extendedResourceClaimStatus).
 */
function claimsOf(pod: unknown): readonly string[] {
  const status = at(pod, "status");
  const claims = [...listAt(at(pod, "spec"), "resourceClaims"), ...listAt(status, "resourceClaimStatuses")];
  const names = [...claims, at(status, "extendedResourceClaimStatus")].flatMap((claim) => {
    return textAt(claim, "resourceClaimName") ?? [];
  });
  return sorted(names);
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
