// SPDX-License-Identifier: Apache-2.0
/**
 * Label selectors: the exact match of nodeSelector maps, and metav1.LabelSelector as pools have it (sriov-operator.md
 * B.2, B.8).
 * Usage: `const selects = compileLabelSelector(spec.nodeSelector); selects.ok && selects.value(labelsOf(node))`.
 */
import { err, ok, type LabelSelector, type LabelSelectorRequirement, type Node, type Result } from "@switchyard/api";

/** An object's labels. */
export type Labels = Readonly<Record<string, string>>;

/** Whether an object with these labels is selected. */
export type LabelPredicate = (labels: Labels) => boolean;

/** Why a selector means nothing; Kubernetes would refuse it too. */
export interface LabelSelectorProblem {
  readonly code: "values-needed" | "values-not-allowed" | "unknown-operator";
  /** Within the selector: "matchExpressions[0].values". */
  readonly field: string;
  readonly value: unknown;
}

/** A node's labels; none is the empty map. */
export function labelsOf(node: Node): Labels {
  return node.metadata.labels ?? {};
}

/** Whether `labels` has every pair of `required` with exactly that value; an empty `required` holds always. */
export function hasLabels(labels: Labels, required: Labels): boolean {
  // Asked for each node of a fleet, again and again: no lists are made for it. What a label map inherits is no text.
  for (const key in required) if (labels[key] !== required[key]) return false;
  return true;
}

/**
 * Makes a selector ready for many objects. An absent and an empty one select everything; all requirements must hold;
 * NotIn and DoesNotExist hold for an object without the key (metav1.LabelSelectorAsSelector).
 */
export function compileLabelSelector(
  selector: LabelSelector | undefined,
): Result<LabelPredicate, LabelSelectorProblem> {
  const required = selector?.matchLabels ?? {};
  const predicates: LabelPredicate[] = [(labels) => hasLabels(labels, required)];
  for (const [index, requirement] of (selector?.matchExpressions ?? []).entries()) {
    const predicate = compileRequirement(requirement, `matchExpressions[${index}]`);
    if (!predicate.ok) return predicate;
    predicates.push(predicate.value);
  }
  return ok((labels) => predicates.every((holds) => holds(labels)));
}

function compileRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  field: string,
): Result<LabelPredicate, LabelSelectorProblem> {
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0)
    return err({ code: "values-needed", field: `${field}.values`, value: values });
  if (!takesValues && values.length > 0) {
    return err({ code: "values-not-allowed", field: `${field}.values`, value: values });
  }
  switch (operator) {
    case "In":
      return ok((labels) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ""));
    case "NotIn":
      return ok((labels) => !Object.hasOwn(labels, key) || !values.includes(labels[key] ?? ""));
    case "Exists":
      return ok((labels) => Object.hasOwn(labels, key));
    case "DoesNotExist":
      return ok((labels) => !Object.hasOwn(labels, key));
    default: // the CRD does not check it
      return err({ code: "unknown-operator", field: `${field}.operator`, value: operator });
  }
}
