// SPDX-License-Identifier: Apache-2.0
/**
 * What of a pod decides whether it must leave a node that is drained. Whether it holds VFs is known from the pod alone where
 * it requests a resource (M-13); what its ResourceClaims come to, claimed-devices.ts looks up.
 * Usage: `project: (pod: Pod) => toPodFacts(pod, "openshift.io")`.
 */
import { annotations, taints, type ObjectMeta, type ResourceType } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import { readPodDevices } from "@switchyard/policy";

export const pods = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
} as const satisfies ResourceType;

/** core/v1 Pod, the fields that are used. */
export interface Pod extends KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly tolerations?: readonly Toleration[] };
  readonly status?: { readonly phase?: string };
}

/** The server has checked it against the kind's schema: here JSON from the wire gets its type. */
export function isPod(object: KubeObject): object is Pod {
  return object.apiVersion === "v1" && object.kind === "Pod";
}

export interface PodFacts {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** RFC 3339: it has been deleted and has until then to end. Undefined while nobody has deleted it. */
  readonly endsBy: string | undefined;
  /** They keep it after it has ended. */
  readonly finalizers: readonly string[];
  /** All its containers have ended for good; it holds nothing any more. */
  readonly isFinished: boolean;
  /** A mirror pod is made by the kubelet from a file. */
  readonly kind: "mirror" | "daemon-set" | "other";
  readonly holdsVfs: boolean;
  /** Names of its ResourceClaims, which may hold VFs, too. */
  readonly claims: readonly string[];
  /** Its DaemonSet makes it anew at once, whatever we do (taints.draining). */
  readonly toleratesDrain: boolean;
}

export function toPodFacts(pod: Pod, resourcePrefix: string): PodFacts {
  const { metadata, spec = {}, status } = pod;
  const { resources, claims } = readPodDevices(pod, resourcePrefix);
  const { name, namespace = "", uid = "", deletionTimestamp, finalizers = [] } = metadata;
  return {
    name,
    namespace,
    uid,
    endsBy: deletionTimestamp,
    finalizers,
    isFinished: status?.phase === "Succeeded" || status?.phase === "Failed",
    kind: kindOf(metadata),
    holdsVfs: resources.length > 0,
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
