// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes objects in the one shape that this lib knows: plain JSON with apiVersion, kind and metadata, whichever way
 * they came (get, list or watch).
 * Usage: `if (isKubeObject(value)) console.log(keyOf(value.metadata))`.
 */

/** Where a kind lives in the API. */
export interface ResourceType {
  /** "" for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Any object of the API. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** metav1.ObjectMeta, the fields that are used here. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339; set once deletion was asked for. */
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

/** metav1.ManagedFieldsEntry: which fields one manager owns. */
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

/** The name of one object. `namespace` stays away for kinds that have none. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The apiVersion of a kind's objects: "v1", "apps/v1". */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** "namespace/name", or "name" where there is no namespace. */
export function keyOf({ name, namespace }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Whether `value` has what every object of the API has. */
export function isKubeObject(value: unknown): value is KubeObject {
  return (
    isRecord(value) &&
    typeof value["apiVersion"] === "string" &&
    typeof value["kind"] === "string" &&
    isRecord(value["metadata"]) &&
    typeof value["metadata"]["name"] === "string"
  );
}

/** Whether `value` is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
