// SPDX-License-Identifier: Apache-2.0
/**
 * DrainedPod contains what decides whether a pod must leave a node that is drained. A pod that requests a resource with
 * the operator's prefix uses VFs (sriov-operator.md M-13), and one that requests AF_XDP devices uses these. Devices of
 * ResourceClaims are looked up by withClaimedVfs() (claimed-vfs.ts).
 * Usage: `const { leaving } = selectPods(pods.map((pod) => toDrainedPod(pod, "openshift.io")), "Drain_Required")`.
 */
import { afxdpResourcePrefix, annotations, taints } from "@switchyard/api";
import { at, listAt, textAt } from "./json-parts.ts";
import { readPodDevices } from "./pod-devices.ts";

export interface DrainedPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** metadata.deletionTimestamp in RFC 3339: end of the grace period. Undefined unless the pod is terminating. */
  readonly endsBy: string | undefined;
  /** Finalizers, which keep the object after its containers have ended. */
  readonly finalizers: readonly string[];
  /** Whether all containers have ended for good, so that the pod uses no VFs any more. */
  readonly isFinished: boolean;
  /** A mirror pod represents a static pod of the kubelet. */
  readonly kind: "mirror" | "daemon-set" | "other";
  /** Whether the pod uses VFs or AF_XDP devices. */
  readonly holdsVfs: boolean;
  /** Names of its ResourceClaims, which can contain VFs. */
  readonly claims: readonly string[];
  /** Whether it tolerates taints.draining, so that its DaemonSet recreates it at once on the node. */
  readonly toleratesDrain: boolean;
}

/** Reads a Pod, which may be malformed. */
export function toDrainedPod(pod: unknown, resourcePrefix: string): DrainedPod {
  const { resources, claims } = readPodDevices(pod, resourcePrefix);
  const hasAfxdpDevices = readPodDevices(pod, afxdpResourcePrefix).resources.length > 0;
  const metadata = at(pod, "metadata");
  const phase = textAt(at(pod, "status"), "phase");
  return {
    name: textAt(metadata, "name") ?? "",
    namespace: textAt(metadata, "namespace") ?? "",
    uid: textAt(metadata, "uid") ?? "",
    endsBy: textAt(metadata, "deletionTimestamp"),
    finalizers: listAt(metadata, "finalizers").filter((finalizer) => typeof finalizer === "string"),
    isFinished: phase === "Succeeded" || phase === "Failed",
    kind: kindOf(metadata),
    holdsVfs: resources.length > 0 || hasAfxdpDevices,
    claims,
    toleratesDrain: listAt(at(pod, "spec"), "tolerations").some(toleratesDrain),
  };
}

function kindOf(metadata: unknown): DrainedPod["kind"] {
  if (at(at(metadata, "annotations"), annotations.mirrorPod) !== undefined) return "mirror";
  const isOfDaemonSet = listAt(metadata, "ownerReferences").some(
    (owner) => textAt(owner, "kind") === "DaemonSet" && at(owner, "controller") === true,
  );
  return isOfDaemonSet ? "daemon-set" : "other";
}

function toleratesDrain(toleration: unknown): boolean {
  const effect = textAt(toleration, "effect");
  if (effect !== undefined && effect !== "NoSchedule") return false;
  const key = textAt(toleration, "key");
  const isForAnyValue = textAt(toleration, "operator") === "Exists";
  if (key === undefined) return isForAnyValue;
  return key === taints.draining && (isForAnyValue || textAt(toleration, "value") === undefined);
}
