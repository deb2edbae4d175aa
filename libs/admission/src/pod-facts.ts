// SPDX-License-Identifier: Apache-2.0
/**
 * readPod reads what admission's warnings need of a pod: its node and the devices that it names. podUse() of libs/policy
 * resolves the devices.
 * Usage: `const pod = readPod(object, "openshift.io"); pod?.devices.resources` is `["fast"]`.
 */
import { readPodDevices, type PlacedPod, type PodDevices } from "@switchyard/policy";

/** A pod on its node. */
export interface PodOnNode extends PlacedPod {
  /** At least one resource or claim. */
  readonly devices: PodDevices;
}

/**
 * Returns undefined for a pod that is not bound to a node, has ended, or names neither a resource with `resourcePrefix` nor
 * a ResourceClaim. `pod` is not trusted: it may be any JSON value.
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
