// SPDX-License-Identifier: Apache-2.0
/**
 * KubeObject is a Kubernetes object as JSON with apiVersion, kind and metadata, whether it comes from a get, a list or a
 * watch. This file also has the types of names and metadata.
 * Usage: `if (isKubeObject(value)) console.log(keyOf(value.metadata))`.
 */

/** A resource of the API: the names of a kind in paths and objects. */
export interface ResourceType {
  /** API group; "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Longest text of a status that many clients write, in bytes of UTF-8. The API server refuses longer ones. Writers cut what is longer. */
  readonly maxStatusTextBytes?: number;
}

/** Any object of the API. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** metav1.ObjectMeta with the fields in use. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339; set when the object is being deleted. */
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** metav1.OwnerReference. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** metav1.ManagedFieldsEntry: the fields that one manager owns. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  /** RFC 3339. */
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsType?: string;
  /** A tree of `f:<field>`, `k:<key>`, `v:<value>`, `i:<index>` and `.` (structured-merge-diff's FieldsV1). */
  readonly fieldsV1?: unknown;
}

/** Name of an object. Cluster-scoped objects have no namespace. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Returns the apiVersion of the objects of a type: "v1" or "apps/v1". */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** Returns "namespace/name", or "name" if there is no namespace. */
export function keyOf({ name, namespace }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Reports whether `value` has apiVersion, kind and metadata.name. */
export function isKubeObject(value: unknown): value is KubeObject {
  return (
    isRecord(value) &&
    typeof value["apiVersion"] === "string" &&
    typeof value["kind"] === "string" &&
    isRecord(value["metadata"]) &&
    typeof value["metadata"]["name"] === "string"
  );
}

/** Reports whether `value` is a JSON object, not null or an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the JSON object at the end of the path, or an empty object. */
export function recordAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  let inner: unknown = value;
  for (const name of path) inner = isRecord(inner) ? inner[name] : undefined;
  return isRecord(inner) ? inner : {};
}
