// SPDX-License-Identifier: Apache-2.0
/**
 * Pods that may use VFs, as far as warnings need them; what they use, podUse() of libs/policy says.
 * Usage: `const pod = readPod(object, "openshift.io"); pod?.devices.resources` is `["fast"]`.
 */
import { readPodDevices, type PlacedPod, type PodDevices } from "@switchyard/policy";

/** A pod on its node. */
export interface PodOnNode extends PlacedPod {
  /** It names one at least. */
  readonly devices: PodDevices;
}

/**
 * Reads a Pod; undefined for one that is on no node, has ended, or names neither a resource below `resourcePrefix` nor a
 * ResourceClaim. `pod` may be anything, as people write it.
 */
export function readPod(pod: unknown, resourcePrefix: string): PodOnNode | undefined {
  const node = at(at(pod, "spec"), "nodeName");
  const phase = at(at(pod, "status"), "phase");
  if (typeof node !== "string" || node === "" || phase === "Succeeded" || phase === "Failed") return undefined;
  const devices = readPodDevices(pod, resourcePrefix);
  if (devices.resources.length === 0 && devices.claims.length === 0) return undefined;
  const namespace = at(at(pod, "metadata"), "namespace");
  return { node, namespace: typeof namespace === "string" ? namespace : "", devices };
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
