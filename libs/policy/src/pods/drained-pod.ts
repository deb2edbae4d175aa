// SPDX-License-Identifier: Apache-2.0
/**
 * DrainedPod contains what decides whether a pod must leave a node that is drained. A pod that requests a resource with
 * the operator's prefix uses VFs (sriov-operator.md M-13), and one that requests AF_XDP devices uses these. Devices of
 * ResourceClaims are looked up by withClaimedVfs() (claimed-vfs.ts).
 * Usage: `const { leaving } = selectPods(pods.map((pod) => toDrainedPod(pod, "openshift.io")), "Drain_Required")`.
 */
import {
  afxdpResourcePrefix,
  annotations,
  defined,
  drainRequests,
  taints,
  type DrainNeed,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import type { PlacedPod } from "./device-lookup.ts";
import { at, listAt, textAt } from "./json-parts.ts";
import type { PfAddresses } from "./pf-addresses.ts";
import { readPodDevices } from "./pod-devices.ts";
import { podUse, usesAny, type DeviceLookup } from "./pod-use.ts";

export interface DrainedPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Uid by which the kubelet knows a static pod; absent for other pods. */
  readonly staticUid?: string;
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
  /** Whether the pod requests AF_XDP devices. */
  readonly hasAfxdpDevices: boolean;
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
    ...defined({ staticUid: textAt(at(metadata, "annotations"), annotations.mirrorPod) }),
    endsBy: textAt(metadata, "deletionTimestamp"),
    finalizers: listAt(metadata, "finalizers").filter((finalizer) => typeof finalizer === "string"),
    isFinished: phase === "Succeeded" || phase === "Failed",
    kind: kindOf(metadata),
    holdsVfs: resources.length > 0 || hasAfxdpDevices,
    hasAfxdpDevices,
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

export interface PodSelection {
  /** Pods that must leave, terminating ones included. The drain is complete when there are none. */
  readonly leaving: readonly DrainedPod[];
  /** Pods that cannot be kept off the node and may lose their VFs. Empty before a reboot, which restarts all pods. */
  readonly staying: readonly DrainedPod[];
}

/**
 * selectPods selects the pods that must leave a node before the daemon may change it (sriov-operator.md G). Pure. Before a
 * reboot, all pods leave except static pods and pods of DaemonSets. Otherwise the pods that use VFs leave, also those of
 * DaemonSets: removing a VF in use can block the whole node. taints.draining stops the DaemonSet from recreating them, unless
 * they tolerate it.
 */
export function selectPods(pods: readonly DrainedPod[], needed: DrainNeed): PodSelection {
  const running = pods.filter(({ isFinished }) => !isFinished);
  if (needed === drainRequests.reboot) return { leaving: running.filter(({ kind }) => kind === "other"), staying: [] };
  const holders = running.filter(({ holdsVfs }) => holdsVfs);
  return {
    leaving: holders.filter((pod) => !cannotLeave(pod)),
    staying: holders.filter(cannotLeave),
  };
}

function cannotLeave({ kind, toleratesDrain }: DrainedPod): boolean {
  return kind === "mirror" || (kind === "daemon-set" && toleratesDrain);
}

export interface ClaimSources {
  readonly node: string;
  readonly factsFor: (pod: PlacedPod) => DeviceLookup;
  /** Reports whether the daemon may change the PF with this PCI address. */
  readonly isManaged: (pf: string) => boolean;
}

/**
 * withClaimedVfs finds the pods of a node that use VFs by ResourceClaims (dynamic resource allocation). Returns the pods, with
 * `holdsVfs` set for those whose claims contain, or may contain, VFs of managed PFs.
 */
export function withClaimedVfs(pods: readonly DrainedPod[], sources: ClaimSources): readonly DrainedPod[] {
  const { node, factsFor, isManaged } = sources;
  return pods.map((pod) => {
    if (pod.holdsVfs || pod.claims.length === 0) return pod;
    const use = podUse({ resources: [], claims: pod.claims }, factsFor({ node, namespace: pod.namespace }));
    return usesAny(use, isManaged) ? { ...pod, holdsVfs: true } : pod;
  });
}

/** PFs that the daemon may change: they are in the spec or have VFs. Pods may keep all other PFs. */
export function managedPfs(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  pfs: readonly PfAddresses[],
): (pf: string) => boolean {
  const withVfs = pfs.filter(({ vfs }) => vfs.length > 0).map(({ pf }) => pf);
  const managed = new Set([...interfaces.map(({ pciAddress }) => pciAddress), ...withVfs]);
  return (pf) => managed.has(pf);
}
