// SPDX-License-Identifier: Apache-2.0
/**
 * readPodDevices returns the devices that a pod refers to: extended resources that its containers request, and
 * ResourceClaims (dynamic resource allocation). pod-use.ts determines which VFs of the node these are.
 * Usage: `readPodDevices(pod, "openshift.io")` is `{ resources: ["fast"], claims: [] }`.
 */
import { at, entriesAt, isZeroQuantity, listAt, textAt } from "./json-parts.ts";

/** The devices that a pod refers to. */
export interface PodDevices {
  /** Names of the requested resources without their prefix, sorted and unique. */
  readonly resources: readonly string[];
  /** Names of ResourceClaims in the pod's namespace, sorted and unique. */
  readonly claims: readonly string[];
}

/**
 * Reads a Pod, which may be malformed. All resources with the prefix are returned, not only those of existing policies:
 * after a policy is deleted, pods may still use its VFs.
 */
export function readPodDevices(pod: unknown, resourcePrefix: string): PodDevices {
  return { resources: requestedBy(at(pod, "spec"), `${resourcePrefix}/`), claims: claimsOf(pod) };
}

/**
 * Considers requests and limits of all containers: for extended resources they are equal, and one of them may be
 * absent.
 */
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

/** Fields with containers. Sidecars are in initContainers. */
const containerLists = ["containers", "initContainers", "ephemeralContainers"];

/**
 * Returns the claims in spec and status. The name of a claim that is created from a template is in the status. So is
 * the name of the claim that the scheduler creates for extended resources of a DeviceClass
 * (extendedResourceClaimStatus).
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
