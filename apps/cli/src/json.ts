// SPDX-License-Identifier: Apache-2.0
/** JsonObject and functions that read untrusted JSON values. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is an object and not null or an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns `object[key]` if it is an own member and a string. */
export function textAt(object: unknown, key: string): string | undefined {
  const value = isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Returns the value at a path of own members: `at(pod, "spec", "nodeName")`. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  );
}

/** Returns the list at a path; empty if it is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the members whose values are strings of the object at a path. */
export function stringsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = at(value, ...path);
  const entries = isJsonObject(found) ? Object.entries(found) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Manifest is an object of the Kubernetes API in the input, with its place. */
export interface Manifest {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty if it has none. */
  readonly name: string;
  /** The namespace in the input; undefined if there is none. */
  readonly namespace: string | undefined;
  /** "cluster/nodes.yaml:12", or the cluster that it was read from. */
  readonly origin: string;
  /** Where its text is; only kept for an object from a file that has null values in `spec`, to find their lines. */
  readonly source?: ManifestSource;
}

/** The place of an object in a text of YAML or JSON. */
export interface ManifestSource {
  readonly file: string;
  readonly text: string;
  /** Index of the document in the text. */
  readonly document: number;
  /** Path of the object in the document, such as ["items", 3]; empty if it is the document. */
  readonly path: readonly (string | number)[];
}

/** Returns undefined if `object` has no apiVersion or kind. */
export function toManifest(object: unknown, origin: string): Manifest | undefined {
  const [apiVersion, kind] = [textAt(object, "apiVersion"), textAt(object, "kind")];
  if (!isJsonObject(object) || !apiVersion || !kind) return undefined;
  const { metadata } = object;
  const [name = "", namespace] = [textAt(metadata, "name"), textAt(metadata, "namespace")];
  return { object, apiVersion, kind, name, namespace, origin };
}

/** "SriovNetworkNodePolicy/ns/name", or "Node/name" for an object without a namespace. */
export function labelOf(object: {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}): string {
  return [object.kind, object.namespace, object.name].filter((part) => part !== undefined && part !== "").join("/");
}
