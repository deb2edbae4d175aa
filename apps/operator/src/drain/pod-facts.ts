// SPDX-License-Identifier: Apache-2.0
/**
 * What of a pod decides whether it must leave a node that is drained.
 * Usage: `project: (pod: Pod) => toPodFacts(pod, "openshift.io")`.
 *
 * A pod holds VFs if any of its containers, init containers among them, asks for a resource under our prefix, be it by
 * request or by limit (M-13). Not only the names in the node's spec count: a policy that is gone takes its resource's
 * name along while its pods still hold the VFs, and to miss one of them breaks it, while a pod too many only moves.
 */
import { annotations, taints, type ObjectMeta, type ResourceType } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";

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
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly tolerations?: readonly Toleration[];
  };
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
  /** Its DaemonSet makes it anew at once, whatever we do (taints.draining). */
  readonly toleratesDrain: boolean;
}

export function toPodFacts({ metadata, spec = {}, status }: Pod, resourcePrefix: string): PodFacts {
  const { name, namespace = "", uid = "", deletionTimestamp, finalizers = [] } = metadata;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return {
    name,
    namespace,
    uid,
    endsBy: deletionTimestamp,
    finalizers,
    isFinished: status?.phase === "Succeeded" || status?.phase === "Failed",
    kind: kindOf(metadata),
    holdsVfs: containers.some((container) => asksFor(container, `${resourcePrefix}/`)),
    toleratesDrain: (spec.tolerations ?? []).some(toleratesDrain),
  };
}

interface Container {
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
}

type Quantities = Readonly<Record<string, string | number>>;

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

function asksFor({ resources = {} }: Container, prefix: string): boolean {
  const asked = [...Object.entries(resources.requests ?? {}), ...Object.entries(resources.limits ?? {})];
  return asked.some(([name, quantity]) => name.startsWith(prefix) && String(quantity) !== "0");
}

function toleratesDrain({ key = "", operator = "Equal", value = "", effect = "" }: Toleration): boolean {
  if (effect !== "" && effect !== "NoSchedule") return false;
  if (key === "") return operator === "Exists";
  return key === taints.draining && (operator === "Exists" || value === "");
}
