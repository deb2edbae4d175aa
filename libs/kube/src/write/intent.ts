// SPDX-License-Identifier: Apache-2.0
/**
 * Intent is the desired state of an object's fields; applyConfiguration makes the body of an apply request from it.
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

/** Desired state of an object: exactly the fields that the manager owns. */
export type Intent<T extends KubeObject> = Partial<Omit<T, "apiVersion" | "kind" | "metadata" | "status">> & {
  readonly metadata: IntentMetadata;
};

/** Desired status of an object. */
export interface StatusIntent<T extends KubeObject> {
  readonly metadata: IntentMetadata;
  readonly status: T extends { readonly status?: infer S } ? NonNullable<S> : never;
}

/** Metadata of an intent. The default namespace is the writer's. Metadata that only the server sets is ignored. */
export interface IntentMetadata extends ObjectName {
  /** If given, the write fails with "Conflict" unless the object has this uid. */
  readonly uid?: string | undefined;
  readonly labels?: ObjectMeta["labels"] | undefined;
  readonly annotations?: ObjectMeta["annotations"] | undefined;
  readonly finalizers?: ObjectMeta["finalizers"] | undefined;
  readonly ownerReferences?: ObjectMeta["ownerReferences"] | undefined;
}

/** The parts of an intent or a status intent. */
export interface Wanted {
  readonly metadata: IntentMetadata;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly subresource?: "status";
}

/** Returns the body of an apply request: the intent without the fields that only the server sets. */
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

/** Returns `fields` without empty lists and maps, and without maps that contain only these. Items of lists stay. */
export function withoutEmpty(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const filled = Object.entries(fields).flatMap(([name, value]) => {
    const lean = isRecord(value) ? withoutEmpty(value) : value;
    const isEmpty = typeof lean === "object" && lean !== null && Object.keys(lean).length === 0;
    return isEmpty ? [] : [[name, lean] as const];
  });
  return Object.fromEntries(filled);
}
