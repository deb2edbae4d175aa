// SPDX-License-Identifier: Apache-2.0
/**
 * The types of metav1 (k8s.io/apimachinery) that Switchyard's kinds use, in their JSON form, and the status fields that
 * its kinds share.
 */

/** metav1.ObjectMeta, restricted to the fields that are used. */
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
}

/**
 * A kind with another type for its metadata, for clients that represent times as Date. KubernetesObjectApi of
 * @kubernetes/client-node takes `WithMetadata<SriovNetwork, Partial<V1ObjectMeta>>` (docs/typescript.md).
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

/** Describes one aspect of the state of an object (metav1.Condition). */
export interface Condition {
  /** Type of the condition: Ready, Progressing, Degraded. */
  readonly type: string;
  /** Status of the condition. */
  readonly status: "True" | "False" | "Unknown";
  /**
   * metadata.generation of the object that the condition is based on. If it is lower than the object's current
   * generation, the condition does not reflect the current spec yet.
   * @asType integer
   * @format int64
   * @minimum 0
   */
  readonly observedGeneration?: number;
  /**
   * Time at which the status of the condition last changed.
   * @format date-time
   */
  readonly lastTransitionTime: string;
  /** Reason for the status, one CamelCase word for programs. */
  readonly reason: string;
  /** Explanation of the status for people. May be empty. */
  readonly message: string;
}

/** Status fields that all kinds of Switchyard share. */
export interface ObjectStatus {
  /**
   * Conditions of the object. Ready: the spec is completely applied. Progressing: changes are being applied, or wait
   * for something that is expected to happen. Degraded: an error needs attention; the message describes it.
   * @x-kubernetes-list-type map
   * @x-kubernetes-list-map-keys ["type"]
   */
  readonly conditions?: readonly Condition[];
  /**
   * metadata.generation of the object that this status is based on.
   * @asType integer
   * @format int64
   */
  readonly observedGeneration?: number;
}

/** Status fields of kinds that select nodes. */
export interface NodeCounts {
  /**
   * Number of nodes that are selected. A policy does not count nodes on which it matches no NIC.
   * @asType integer
   * @format int32
   */
  readonly matchedNodeCount?: number;
  /**
   * Number of selected nodes that are completely configured.
   * @asType integer
   * @format int32
   */
  readonly readyNodeCount?: number;
}

/** A label query over objects. matchLabels and matchExpressions are combined with AND (metav1.LabelSelector). */
export interface LabelSelector {
  /** Labels that an object must have with exactly these values. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /**
   * Further requirements. An object must meet all of them.
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
 *   message: "must be omitted with the operators Exists and DoesNotExist",
 *   fieldPath: ".values"
 * }]
 */
export interface LabelSelectorRequirement {
  /** Key of the label. */
  readonly key: string;
  /**
   * Relation between the label and the values.
   * @openEnum
   */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /**
   * Values to compare the label with. Required with the operators In and NotIn, and absent otherwise.
   * @x-kubernetes-list-type atomic
   */
  readonly values?: readonly string[];
}

/**
 * Group, version, names and scope of a kind. libs/kube takes these as parameters, so it does not depend on this
 * library.
 */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Longest text of a status that many clients write, in bytes of UTF-8. The CRD has it as maxLength. Writers cut what is longer. */
  readonly maxStatusTextBytes?: number;
}
