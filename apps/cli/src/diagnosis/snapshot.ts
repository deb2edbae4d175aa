// SPDX-License-Identifier: Apache-2.0
/**
 * Snapshot is what is known of a cluster at one time: its objects, and which kinds could be read. Rules decide by it alone, so
 * a snapshot from files and one from the cluster give the same findings.
 */
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createRules, type Rules } from "@switchyard/policy";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";
import { at, isJsonObject, listAt, stringsAt, textAt, type Manifest } from "../json.ts";
import { countOf, readPodSummary, type PodSummary } from "./pod-summary.ts";

export interface Snapshot {
  readonly namespace: string;
  readonly resourcePrefix: string;
  readonly cluster: ClusterObjects;
  readonly rules: Rules;
  readonly states: readonly SriovNetworkNodeState[];
  /** Summaries of the nodes by name. */
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  /** Pods that have not ended. */
  readonly pods: readonly PodSummary[];
  /** The objects of a kind, as they were read. */
  readonly objectsOf: (kind: string) => readonly Manifest[];
  /** Whether objects of the kind could be read. If not, the absence of an object means nothing. */
  readonly isKnown: (kind: string) => boolean;
  /** Whether the kind was read from a cluster, so that the absence of an object means that it does not exist. */
  readonly wasListed: (kind: string) => boolean;
  /** Objects of the input that the API server would refuse, and which are therefore not in `cluster`. */
  readonly refused: readonly RefusedObject[];
  /** Milliseconds since 1970 at which the cluster was read; from files, the latest time in any object. */
  readonly takenAtMs: number;
  /** The cluster that was read; undefined for files. */
  readonly source: ClusterName | undefined;
  /** Whether takenAtMs is the time of a clock. The latest time in files can be long before they were taken. */
  readonly isClock: boolean;
}

/** By what people know a cluster. */
export interface ClusterName {
  /** Its context or kubeconfig. */
  readonly name: string;
  /** Name or address of the API server. */
  readonly server?: string | undefined;
  /** gitVersion of the API server, such as "v1.36.3". */
  readonly version?: string | undefined;
}

/** "cluster lab, server 10.0.0.1, Kubernetes v1.36.3". */
export function clusterText({ name, server, version }: ClusterName): string {
  const parts = [`cluster ${name}`, server && `server ${server}`, version && `Kubernetes ${version}`];
  return parts.filter((part) => part !== undefined && part !== "").join(", ");
}

/**
 * Returns ", 14 min ago" for a time of a live cluster. Empty for a text that is no time, and for files, whose latest time can be long before
 * they were taken.
 */
export function agoText(
  time: string | undefined,
  { isClock, takenAtMs }: Pick<Snapshot, "isClock" | "takenAtMs">,
): string {
  const ms = timeMs(time);
  if (!isClock || ms === undefined) return "";
  const seconds = Math.max(0, Math.round((takenAtMs - ms) / 1_000));
  if (seconds < 90) return `, ${seconds} s ago`;
  if (seconds < 90 * 60) return `, ${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3_600) return `, ${Math.round(seconds / 3_600)} h ago`;
  return `, ${Math.round(seconds / 86_400)} days ago`;
}

/** An object that violates its CustomResourceDefinition. */
export interface RefusedObject {
  readonly manifest: Manifest;
  /** All of its problems, with their fields. */
  readonly problem: string;
}

export interface SnapshotOptions {
  readonly namespace: string;
  readonly resourcePrefix: string;
  /** The kinds that were read from a cluster. Of files, the kinds of the objects in them are known. */
  readonly readKinds?: readonly string[];
  readonly refused?: readonly RefusedObject[];
  /** The API server's clock at that time, in milliseconds since 1970. */
  readonly nowMs?: number | undefined;
  readonly source?: ClusterName | undefined;
}

/** NodeSummary is what findings depend on in the status of a Node. */
interface NodeSummary {
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  /** Devices that the kubelet offers, by full resource name; undefined if the Node has no status. */
  readonly allocatable: ReadonlyMap<string, number> | undefined;
  readonly bootID: string | undefined;
  readonly kubeletVersion: string | undefined;
  /** When the node last became Ready (RFC 3339); undefined if it is not Ready. */
  readonly readySince: string | undefined;
}

export function createSnapshot(
  manifests: readonly Manifest[],
  cluster: ClusterObjects,
  options: SnapshotOptions,
): Snapshot {
  const { namespace, resourcePrefix, readKinds = [], refused = [], nowMs, source } = options;
  const byKind = Map.groupBy(manifests, ({ kind }) => kind);
  const objectsOf = (kind: string): readonly Manifest[] => byKind.get(kind) ?? [];
  const { policies, pools, operatorConfig } = cluster;
  return {
    namespace,
    resourcePrefix,
    cluster,
    rules: createRules({ policies, pools, operatorConfig, nics: nicPolicyOf(cluster) }),
    states: [...cluster.states.values()],
    nodes: new Map(objectsOf("Node").map((node) => [node.name, readNodeSummary(node.object)])),
    pods: objectsOf("Pod").flatMap(({ object }) => readPodSummary(object) ?? []),
    objectsOf,
    isKnown: (kind) => byKind.has(kind) || readKinds.includes(kind),
    wasListed: (kind) => readKinds.includes(kind),
    takenAtMs: nowMs ?? latestTime(manifests),
    isClock: nowMs !== undefined,
    source,
    refused,
  };
}

/** The latest time in the metadata, conditions and status of any object; 0 if there is none. */
function latestTime(manifests: readonly Manifest[]): number {
  let latest = 0;
  for (const { object } of manifests) {
    const times = [
      textAt(object["metadata"], "creationTimestamp"),
      ...listAt(object, "metadata", "managedFields").map((entry) => textAt(entry, "time")),
      ...listAt(object, "status", "conditions").flatMap((condition) => [
        textAt(condition, "lastTransitionTime"),
        textAt(condition, "lastHeartbeatTime"),
      ]),
      textAt(object["spec"], "renewTime"),
      textAt(object, "lastTimestamp"),
      textAt(object, "eventTime"),
    ];
    for (const time of times) latest = Math.max(latest, timeMs(time) ?? 0);
  }
  return latest;
}

/** Milliseconds since 1970; undefined if the text is no time. */
export function timeMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** When a field manager last wrote the status of an object. */
export function lastStatusWriteMs(object: unknown): number | undefined {
  const times = listAt(object, "metadata", "managedFields")
    .filter((entry) => textAt(entry, "subresource") === "status" || at(entry, "fieldsV1", "f:status") !== undefined)
    .flatMap((entry) => timeMs(textAt(entry, "time")) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Reads a Node, which may be malformed. */
function readNodeSummary(node: unknown): NodeSummary {
  const allocatable = at(node, "status", "allocatable");
  const ready = listAt(node, "status", "conditions").find((condition) => textAt(condition, "type") === "Ready");
  const info = at(node, "status", "nodeInfo");
  return {
    annotations: stringsAt(node, "metadata", "annotations"),
    labels: stringsAt(node, "metadata", "labels"),
    isUnschedulable: at(node, "spec", "unschedulable") === true,
    allocatable: isJsonObject(allocatable)
      ? new Map(Object.entries(allocatable).map(([name, quantity]) => [name, countOf(quantity)]))
      : undefined,
    bootID: textAt(info, "bootID"),
    kubeletVersion: textAt(info, "kubeletVersion"),
    readySince: textAt(ready, "status") === "True" ? textAt(ready, "lastTransitionTime") : undefined,
  };
}
