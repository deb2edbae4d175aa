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
  /** CamelCase name of the aspect: Ready, Progressing, Degraded. */
  readonly type: string;
  /** Whether it holds. */
  readonly status: "True" | "False" | "Unknown";
  /**
   * metadata.generation that this was judged from.
   * @asType integer
   * @minimum 0
   */
  readonly observedGeneration?: number;
  /**
   * When the status last changed, RFC 3339.
   * @format date-time
   */
  readonly lastTransitionTime: string;
  /** CamelCase word for programs. */
  readonly reason: string;
  /** Sentence for people; may be empty. */
  readonly message: string;
}

/** A label query over objects; all requirements must hold (metav1.LabelSelector). */
export interface LabelSelector {
  /** Labels with exactly these values. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Requirements beyond equality. */
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** One requirement of a label selector. */
export interface LabelSelectorRequirement {
  /** The label's key. */
  readonly key: string;
  /** How the key relates to the values. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Needed for In and NotIn, absent otherwise. */
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
