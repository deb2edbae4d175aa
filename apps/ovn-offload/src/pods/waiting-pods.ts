// SPDX-License-Identifier: Apache-2.0
/**
 * waitingPods returns the pods of a host that need an interface of the host's Open vSwitch, which does not run there,
 * and so cannot start. These are pods without hostNetwork whose default network is not replaced by a network with a VF,
 * and that have not been ready for some minutes. A pod that is ready has got its interface in another way, whatever its
 * annotations say.
 */
import { isRecord, recordedMs, type KubeObject } from "@switchyard/kube";

export interface WaitingPods {
  readonly count: number;
  /** "namespace/name" of the first ones, sorted. */
  readonly names: readonly string[];
}

/** The network that replaces the cluster's default network, in the annotations of a pod. */
const defaultNetwork = "v1.multus-cni.io/default-network";

/** A pod may take this long to become ready. */
const startMs = 180_000;

const maxNames = 3;

export function waitingPods(pods: readonly KubeObject[], now: Date): WaitingPods {
  const names = pods.flatMap((pod) =>
    isWaiting(pod, now) ? [`${pod.metadata.namespace ?? ""}/${pod.metadata.name}`] : [],
  );
  return { count: names.length, names: names.toSorted().slice(0, maxNames) };
}

function isWaiting(pod: KubeObject, now: Date): boolean {
  const { annotations = {}, creationTimestamp, deletionTimestamp } = pod.metadata;
  const spec = fieldOf(pod, "spec");
  const status = fieldOf(pod, "status");
  if (deletionTimestamp !== undefined || spec["hostNetwork"] === true || Object.hasOwn(annotations, defaultNetwork))
    return false;
  if (status["phase"] === "Succeeded" || status["phase"] === "Failed") return false;
  const conditions: readonly unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const ready = conditions.find((condition) => isRecord(condition) && condition["type"] === "Ready");
  if (isRecord(ready) && ready["status"] === "True") return false;
  const since = isRecord(ready) ? ready["lastTransitionTime"] : creationTimestamp;
  const sinceMs = typeof since === "string" ? recordedMs(since, now.getTime()) : undefined;
  return sinceMs !== undefined && now.getTime() - sinceMs > startMs;
}

function fieldOf(pod: KubeObject, name: "spec" | "status"): Readonly<Record<string, unknown>> {
  const value: unknown = Object.entries(pod).find(([key]) => key === name)?.[1];
  return isRecord(value) ? value : {};
}
