// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterState is the state of a cluster without what differs between two runs of the same scenario: times, uids and
 * versions. Two states are equal if a user cannot see a difference.
 */
import { isRecord, type KubeObject } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";

/** The reduced objects by "Kind namespace/name". */
export type ClusterState = ReadonlyMap<string, unknown>;

/** Fields that differ between two runs and do not matter. */
const leftOut = new Set([
  ...["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionGracePeriodSeconds"],
  "lastTransitionTime", // of a condition; only its status matters
  "bootID", // each started node has just booted
]);

/** Fields of other kinds, which other controllers write. */
const othersOwn: Readonly<Record<string, readonly string[]>> = {
  Node: ["status"],
  Service: ["status", "clusterIP", "clusterIPs"],
  DaemonSet: ["status", "deprecated.daemonset.template.generation"],
  ValidatingAdmissionPolicy: ["status"],
  Namespace: ["status"],
};

/** A timestamp as in RFC 3339. */
const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** `uidOf` returns the uid of an object by its name, to check that an owner reference refers to the existing object. */
export function clusterStateOf(objects: Iterable<KubeObject>): ClusterState {
  const all = [...objects];
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const rows = all.map((object): [string, unknown] => [labelOf(object), reduce(object, object, uids)]);
  return new Map(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns "SriovNetwork blue/web". */
export function labelOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** One line per difference, with the expected and the actual value. */
export function differences(expected: ClusterState, actual: ClusterState): string {
  const labels = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return labels.flatMap((label) => differencesAt(label, expected.get(label), actual.get(label))).join("\n");
}

function differencesAt(at: string, expected: unknown, actual: unknown): readonly string[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  if (isRecord(expected) && isRecord(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
    return keys.flatMap((key) => differencesAt(`${at} .${key}`, expected[key], actual[key]));
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((item: unknown, index) => differencesAt(`${at} [${index}]`, item, actual[index]));
  }
  return [`${at}: expected ${show(expected)}, but it is ${show(actual)}`];
}

function show(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

function reduce(value: unknown, root: KubeObject, uids: ReadonlySet<string | undefined>): unknown {
  if (typeof value === "string") return value.replaceAll(timestamp, "<time>");
  if (Array.isArray(value)) return value.map((item: unknown) => reduce(item, root, uids));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key === "caBundle" && typeof item === "string") return [[key, item === "" ? "" : "<certificate>"]];
    if (key === "observedGeneration") return [[key, item === root.metadata.generation ? "current" : "behind"]];
    if (key === "conditions" && Array.isArray(item)) return [[key, reduce(item.toSorted(byType), root, uids)]];
    if (key === "ownerReferences" && Array.isArray(item)) return [[key, item.map((owner) => reduceOwner(owner, uids))]];
    if (key === "taints" && Array.isArray(item)) return [[key, reduce(item.filter(isOwnTaint), root, uids)]];
    if (leftOut.has(key) || othersOwn[root.kind]?.includes(key)) return [];
    return [[key, reduce(item, root, uids)]];
  });
  return Object.fromEntries(entries);
}

function reduceOwner(owner: unknown, uids: ReadonlySet<string | undefined>): unknown {
  if (!isRecord(owner)) return owner;
  const { uid, ...rest } = owner;
  return { ...rest, isThere: typeof uid === "string" && uids.has(uid) };
}

/** Conditions are identified by their type; their order depends on the order of the writes. */
function byType(a: unknown, b: unknown): number {
  const typeOf = (condition: unknown) => (isRecord(condition) ? String(condition["type"]) : "");
  return typeOf(a) < typeOf(b) ? -1 : 1;
}

/** Conditions that Kubernetes writes, which report the health of the kubelet. */
function isOwnTaint(taint: unknown): boolean {
  return !isRecord(taint) || typeof taint["key"] !== "string" || !taint["key"].startsWith("node.kubernetes.io/");
}
