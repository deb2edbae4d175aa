// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster's state in one shape, without what differs between two runs of the same life: times, uids, versions. Two
 * pictures are equal where a user could tell no difference.
 * Usage: `differences(pictureOf(before), pictureOf(after))` is a text, "" where there are none.
 */
import { isRecord, type KubeObject } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";

/** Objects, reduced, by "Kind namespace/name". */
export type Picture = ReadonlyMap<string, unknown>;

/** What differs between two runs, and nobody's business. */
const leftOut = new Set([
  ...["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionGracePeriodSeconds"],
  "lastTransitionTime", // of a condition; whether it holds is what counts
  "bootID", // each node that is played has booted just now
]);

/** Of kinds that are not ours: what other controllers make of them. */
const othersOwn: Readonly<Record<string, readonly string[]>> = {
  Node: ["status"],
  Service: ["status", "clusterIP", "clusterIPs"],
  DaemonSet: ["status", "deprecated.daemonset.template.generation"],
  ValidatingAdmissionPolicy: ["status"],
  Namespace: ["status"],
};

/** RFC 3339. */
const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** `uidOf` is where an owner's uid is looked up: is it the object of that name that is there? */
export function pictureOf(objects: Iterable<KubeObject>): Picture {
  const all = [...objects];
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const rows = all.map((object): [string, unknown] => [labelOf(object), reduce(object, object, uids)]);
  return new Map(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** "SriovNetwork blue/web". */
export function labelOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** One line per difference: what was expected, what is there. */
export function differences(expected: Picture, actual: Picture): string {
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

/** Conditions are known by their type; who wrote first comes first. */
function byType(a: unknown, b: unknown): number {
  const typeOf = (condition: unknown) => (isRecord(condition) ? String(condition["type"]) : "");
  return typeOf(a) < typeOf(b) ? -1 : 1;
}

/** Kubernetes' own tell of a kubelet's health, and repeat what else is told. */
function isOwnTaint(taint: unknown): boolean {
  return !isRecord(taint) || typeof taint["key"] !== "string" || !taint["key"].startsWith("node.kubernetes.io/");
}
