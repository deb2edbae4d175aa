// SPDX-License-Identifier: Apache-2.0
/**
 * PodFacts are the fields of a pod that decide whether it must leave a node that is drained. A pod that requests a
 * resource with the operator's prefix uses VFs (sriov-operator.md M-13), and one that requests AF_XDP devices uses these. For ResourceClaims, claimed-devices.ts
 * determines that.
 * Usage: `const project = (pod: Pod) => toPodFacts(pod, "openshift.io");`
 */
import { afxdpResourcePrefix, annotations, taints, type ObjectMeta, type ResourceType } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import { readPodDevices } from "@switchyard/policy";

export const pods = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
} as const satisfies ResourceType;

/** The fields of a core/v1 Pod that are used. */
export interface Pod extends KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly tolerations?: readonly Toleration[] };
  readonly status?: { readonly phase?: string };
}

/** Gives JSON from the API server its type. The API server has checked it against the schema of the kind. */
export function isPod(object: KubeObject): object is Pod {
  return object.apiVersion === "v1" && object.kind === "Pod";
}

export interface PodFacts {
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

export function toPodFacts(pod: Pod, resourcePrefix: string): PodFacts {
  const { metadata, spec = {}, status } = pod;
  const { resources, claims } = readPodDevices(pod, resourcePrefix);
  const hasAfxdpDevices = readPodDevices(pod, afxdpResourcePrefix).resources.length > 0;
  const { name, namespace = "", uid = "", deletionTimestamp, finalizers = [] } = metadata;
  return {
    name,
    namespace,
    uid,
    endsBy: deletionTimestamp,
    finalizers,
    isFinished: status?.phase === "Succeeded" || status?.phase === "Failed",
    kind: kindOf(metadata),
    holdsVfs: resources.length > 0 || hasAfxdpDevices,
    claims,
    toleratesDrain: (spec.tolerations ?? []).some(toleratesDrain),
  };
}

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

function kindOf({ annotations: notes = {}, ownerReferences = [] }: ObjectMeta): PodFacts["kind"] {
  if (notes[annotations.mirrorPod] !== undefined) return "mirror";
  const isOfDaemonSet = ownerReferences.some(({ kind, controller }) => kind === "DaemonSet" && controller === true);
  return isOfDaemonSet ? "daemon-set" : "other";
}

function toleratesDrain({ key = "", operator = "Equal", value = "", effect = "" }: Toleration): boolean {
  if (effect !== "" && effect !== "NoSchedule") return false;
  if (key === "") return operator === "Exists";
  return key === taints.draining && (operator === "Exists" || value === "");
}
