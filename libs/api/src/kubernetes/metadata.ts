// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of Kubernetes' own types that our kinds are made of (metav1), as they stand in JSON.
 */

/** metav1.ObjectMeta, the fields that are used. */
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
}

/**
 * A kind for clients that have a type of their own for metadata, with times as Date: `WithMetadata<SriovNetwork, Partial<V1ObjectMeta>>`
 * for KubernetesObjectApi of @kubernetes/client-node (docs/typescript.md).
 */
export type WithMetadata<Kind extends { readonly metadata: ObjectMeta }, Metadata> = Omit<Kind, "metadata"> & {
  metadata: Metadata;
};

/** metav1.OwnerReference. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** One aspect of an object's state (metav1.Condition). */
export interface Condition {
  /** The aspect: Ready, Progressing, Degraded. */
  readonly type: string;
  /** Whether it holds. */
  readonly status: "True" | "False" | "Unknown";
  /**
   * The metadata.generation that this was judged from. A lower one than the object's says that the newest spec has not
   * been looked at yet.
   * @asType integer
   * @format int64
   * @minimum 0
   */
  readonly observedGeneration?: number;
  /**
   * When the status last changed.
   * @format date-time
   */
  readonly lastTransitionTime: string;
  /** Why, in one CamelCase word, for programs. */
  readonly reason: string;
  /** Why, in a sentence, for people. May be empty. */
  readonly message: string;
}

/** What the status of each kind of ours has. */
export interface ObjectStatus {
  /**
   * What became of the spec. Ready: all that is asked for is there. Progressing: work is under way or waits for something
   * that will come. Degraded: something failed and needs a person; its message says what.
   * @x-kubernetes-list-type map
   * @x-kubernetes-list-map-keys ["type"]
   */
  readonly conditions?: readonly Condition[];
  /**
   * The metadata.generation that this status was judged from.
   * @asType integer
   * @format int64
   */
  readonly observedGeneration?: number;
}

/** What kinds that select nodes report about them. */
export interface NodeCounts {
  /**
   * Nodes that are selected.
   * @asType integer
   * @format int32
   */
  readonly matchedNodeCount?: number;
  /**
   * Selected nodes that are configured as asked.
   * @asType integer
   * @format int32
   */
  readonly readyNodeCount?: number;
}

/** A label query over objects; all requirements must hold (metav1.LabelSelector). */
export interface LabelSelector {
  /** Labels that the object must carry with exactly these values. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /**
   * Requirements beyond equality.
   * @maxItems 64
   * @x-kubernetes-list-type atomic
   */
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/**
 * One requirement of a label selector.
 * @x-kubernetes-validations [{
 *   rule: "self.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist']",
 *   message: "must be In, NotIn, Exists or DoesNotExist",
 *   fieldPath: ".operator"
 * }, {
 *   rule: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
 *   message: "must have at least one value with the operators In and NotIn",
 *   fieldPath: ".values"
 * }, {
 *   rule: "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
 *   message: "must be left out with the operators Exists and DoesNotExist",
 *   fieldPath: ".values"
 * }]
 */
export interface LabelSelectorRequirement {
  /** The label's key. */
  readonly key: string;
  /**
   * How the label relates to the values.
   * @openEnum
   */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /**
   * Needed for In and NotIn, absent otherwise.
   * @x-kubernetes-list-type atomic
   */
  readonly values?: readonly string[];
}

/** Where a kind lives in the API. libs/kube takes these; it knows none of our kinds. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}
