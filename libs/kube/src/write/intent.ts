// SPDX-License-Identifier: Apache-2.0
/**
 * What a controller wants of an object, and how that is told to the API server.
 * Usage: `const intent: Intent<Node> = { metadata: { name: "worker-0", labels: { a: "b" } } }`.
 */
import {
  apiVersionOf,
  isRecord,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  type ResourceType,
} from "../kube-object.ts";

/** What is wanted of an object: all fields that the manager is to own, and no others. */
export type Intent<T extends KubeObject> = Partial<Omit<T, "apiVersion" | "kind" | "metadata" | "status">> & {
  readonly metadata: IntentMetadata;
};

/** What is wanted of its status. */
export interface StatusIntent<T extends KubeObject> {
  readonly metadata: IntentMetadata;
  readonly status: T extends { readonly status?: infer S } ? NonNullable<S> : never;
}

/**
 * The namespace is the writer's unless given. With a uid, only that very object is written: "Conflict" once it is gone.
 * Other metadata that the server sets may be there and are left out.
 */
export type IntentMetadata = ObjectName &
  Partial<Pick<ObjectMeta, "uid" | "labels" | "annotations" | "finalizers" | "ownerReferences">>;

/** An intent or a status intent, taken apart. */
export interface Wanted {
  readonly metadata: IntentMetadata;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly subresource?: "status";
}

/** The body of an apply: the intent without what only the server sets. */
export function applyConfiguration(type: ResourceType, name: ObjectName, { metadata, fields, subresource }: Wanted) {
  const { uid, labels, annotations, finalizers, ownerReferences } = metadata;
  const { status, ...rest } = fields;
  return {
    ...(subresource === undefined ? rest : { status }),
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { ...name, uid, labels, annotations, finalizers, ownerReferences },
  };
}

/** `fields` without maps and lists that have nothing in them, or nothing but such. What is in lists stays. */
export function withoutEmpty(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const filled = Object.entries(fields).flatMap(([name, value]) => {
    const lean = isRecord(value) ? withoutEmpty(value) : value;
    const isEmpty = typeof lean === "object" && lean !== null && Object.keys(lean).length === 0;
    return isEmpty ? [] : [[name, lean] as const];
  });
  return Object.fromEntries(filled);
}
