// SPDX-License-Identifier: Apache-2.0
/**
 * observeObject extracts the fields of an object that a manager owns by its last apply, with their current values, as a digest.
 * metadata.managedFields has these fields as a tree (FieldsV1 of structured-merge-diff). The tree also shows the kind of
 * each list: `k:{...}` entries are identified by their keys, `v:...` entries by their value, and a list or map without
 * children is owned as a whole. So no schema is needed.
 * Usage: `observeObject(object, ["switchyard-node-states"]).owned("switchyard-node-states", "") === intentDigest(intent)`.
 */
import { hash } from "node:crypto";
import type { ObservedObject } from "./cache.ts";
import { canonicalJson } from "../json/texts.ts";
import { isRecord, type KubeObject, type ManagedFieldsEntry } from "../kube-object.ts";

type Tree = Readonly<Record<string, unknown>>;

/** Returns what a writer with one of these managers needs to know about `object`. */
export function observeObject(object: KubeObject, managers: readonly string[]): ObservedObject {
  const owned = new Map<string, string>();
  const updaters: string[] = [];
  for (const entry of managers.length === 0 ? [] : (object.metadata.managedFields ?? [])) {
    const { manager = "", operation, subresource = "" } = entry;
    if (operation === "Update" && ownsContent(entry)) updaters.push(`${manager}/${subresource}`);
    else if (operation === "Apply" && managers.includes(manager))
      owned.set(`${manager}/${subresource}`, digest(extractOwned(object, entry)));
  }
  return {
    uid: object.metadata.uid ?? "",
    resourceVersion: object.metadata.resourceVersion ?? "",
    owned: (manager, subresource) => owned.get(`${manager}/${subresource}`),
    updatedBy: (manager, subresource) => updaters.includes(`${manager}/${subresource}`),
  };
}

/** Returns the digest that `owned` has after this intent was applied, as long as nobody changes its fields. */
export function intentDigest(intent: Tree): string {
  return digest(intent);
}

/** Returns the fields of `object` that `entry`, one of its managedFields, owns. */
export function extractOwned(object: KubeObject, entry: ManagedFieldsEntry): Tree {
  if (!isRecord(entry.fieldsV1)) return {};
  const others = object.metadata.managedFields?.filter((other) => other !== entry).map((other) => other.fieldsV1) ?? [];
  const owned = extract(object, entry.fieldsV1, others.filter(isRecord));
  return isRecord(owned) ? owned : {};
}

// No manager owns apiVersion, kind and the name. The server does not store empty maps and lists in metadata.
function digest(content: Tree): string {
  const { metadata, ...fields } = content;
  const own: Record<string, unknown> = {};
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = isRecord(metadata) ? metadata[name] : undefined;
    if (value !== undefined && value !== null && Object.keys(value).length > 0) own[name] = value;
  }
  return hash(
    "sha256",
    canonicalJson({ ...fields, apiVersion: undefined, kind: undefined, metadata: own }),
    "base64url",
  );
}

function extract(value: unknown, owned: Tree, others: readonly Tree[]): unknown {
  const children = Object.keys(owned).filter((child) => child !== ".");
  if (children.length === 0) return whole(value, others);
  if (Array.isArray(value)) return extractItems(value, owned, others);
  if (!isRecord(value)) return value;

  const part: Record<string, unknown> = {};
  for (const child of children) {
    const name = child.slice("f:".length);
    if (Object.hasOwn(value, name)) part[name] = extract(value[name], below(owned, child), allBelow(others, child));
  }
  return part;
}

// A field that is owned as a whole is a scalar, an atomic list or an atomic map. It can also be a list or map that this
// manager applied empty and to which others add entries; then this manager owns only the empty list or map.
function whole(value: unknown, others: readonly Tree[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!others.some((other) => Object.keys(other).some((child) => child !== "."))) return value;
  return Array.isArray(value) ? [] : {};
}

function extractItems(items: readonly unknown[], owned: Tree, others: readonly Tree[]): unknown[] {
  const children = new Map<string, string>();
  let keyNames: readonly string[] | undefined;
  for (const child of Object.keys(owned)) {
    if (child === ".") continue;
    const key: unknown = JSON.parse(child.slice("k:".length));
    if (child.startsWith("k:") && isRecord(key)) keyNames ??= Object.keys(key);
    children.set(canonicalJson(key), child);
  }

  return items.flatMap((item) => {
    const key = keyNames && isRecord(item) ? Object.fromEntries(keyNames.map((name) => [name, item[name]])) : item;
    const child = children.get(canonicalJson(key));
    return child === undefined ? [] : [extract(item, below(owned, child), allBelow(others, child))];
  });
}

function below(tree: Tree, child: string): Tree {
  const next = tree[child];
  return isRecord(next) ? next : {};
}

function allBelow(trees: readonly Tree[], child: string): Tree[] {
  return trees.flatMap((tree) => (Object.hasOwn(tree, child) ? [below(tree, child)] : []));
}

/**
 * ownsAnnotation reports whether an entry of managedFields owns an annotation.
 * Returns false if the entry has no fields in the format FieldsV1.
 */
export function ownsAnnotation({ fieldsV1 }: ManagedFieldsEntry, annotation: string): boolean {
  const metadata = isRecord(fieldsV1) ? fieldsV1["f:metadata"] : undefined;
  const all = isRecord(metadata) ? metadata["f:annotations"] : undefined;
  return isRecord(all) && Object.hasOwn(all, `f:${annotation}`);
}

/** Reports whether the entry owns fields other than metadata. */
export function ownsContent(entry: ManagedFieldsEntry): boolean {
  return Object.keys(splitFields(entry).content).length > 0;
}

/** Returns the fields of an entry of managedFields, those of the metadata apart. */
export function splitFields({ fieldsV1 }: ManagedFieldsEntry): {
  readonly content: Readonly<Record<string, unknown>>;
  readonly metadata: object | undefined;
} {
  if (!isRecord(fieldsV1)) return { content: {}, metadata: undefined };
  const { "f:metadata": metadata, ...content } = fieldsV1;
  return { content, metadata: metadata === undefined ? undefined : { "f:metadata": metadata } };
}
