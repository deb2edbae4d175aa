// SPDX-License-Identifier: Apache-2.0
/**
 * Label selectors of two kinds: maps of exact label values, as in a policy's nodeSelector, and metav1.LabelSelector, as
 * in a pool's nodeSelector (sriov-operator.md B.2, B.8).
 * Usage: `const selects = compileLabelSelector(spec.nodeSelector); selects.ok && selects.value(labelsOf(node));`
 */
import {
  err,
  ok,
  type AfxdpOperatorConfig,
  type LabelSelector,
  type LabelSelectorRequirement,
  type Node,
  type Result,
  type SriovOperatorConfig,
} from "@switchyard/api";

/** An object's labels. */
export type Labels = Readonly<Record<string, string>>;

/** Reports whether an object with these labels is selected. */
export type LabelPredicate = (labels: Labels) => boolean;

/** Why a selector is invalid. Kubernetes rejects such a selector, too. */
export interface LabelSelectorProblem {
  readonly code: "values-needed" | "values-not-allowed" | "unknown-operator";
  /** Path within the selector: "matchExpressions[0].values". */
  readonly field: string;
  readonly value: unknown;
}

/** Returns the labels of a node; an empty map if it has none. */
export function labelsOf(node: Node): Labels {
  return node.metadata.labels ?? {};
}

/**
 * Reports whether `labels` has every pair of `required` with exactly that value. An empty `required` selects
 * everything.
 */
export function hasLabels(labels: Labels, required: Labels): boolean {
  // This runs for each node and policy of a large cluster, so it allocates nothing. Inherited properties of a label map
  // are
  // not strings and therefore never equal a required value.
  for (const key in required) if (labels[key] !== required[key]) return false;
  return true;
}

/**
 * Compiles a selector into a predicate. An absent or empty selector selects everything. An object must meet all
 * requirements; one without the key meets NotIn and DoesNotExist (metav1.LabelSelectorAsSelector).
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
    default: // objects stored before the CRD had a rule for the operator
      return err({ code: "unknown-operator", field: `${field}.operator`, value: operator });
  }
}

const labelName = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelPrefix = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Returns why no node can have one of the labels, by the rules of the API server (k8s.io/apimachinery,
 * pkg/util/validation); undefined if all are possible. A quote too many in YAML becomes a part of the key.
 */
export function labelsProblem(labels: Labels): string | undefined {
  for (const [key, value] of Object.entries(labels)) {
    const [prefix, name = "", ...more] = key.includes("/") ? key.split("/") : [undefined, key];
    const isKey = more.length === 0 && labelName.test(name) && (prefix === undefined || labelPrefix.test(prefix));
    if (!isKey)
      return `${JSON.stringify(key)} is not a label key: use letters, digits, "-", "_" and ".", and check quotes`;
    if (value !== "" && !labelName.test(value)) {
      return `${JSON.stringify(value)} is not a label value for ${key}: use letters, digits, "-", "_" and ".", and check quotes`;
    }
  }
  return undefined;
}

/** Linux nodes with the worker role. The value of the worker label is the empty string. */
const defaultLabels: Labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };

/**
 * The node set consists of the nodes that run the config daemon and have a SriovNetworkNodeState
 * (sriov-operator.md B.2).
 * Reports whether the node has all labels of `nodeSet`, which nodeSetLabels returns and Rules contains.
 */
export function isInNodeSet(node: Node, { nodeSet }: { readonly nodeSet: Labels }): boolean {
  return hasLabels(labelsOf(node), nodeSet);
}

/**
 * Returns the labels that select the node set: configDaemonNodeSelector, or the labels of Linux workers if that field
 * is absent or empty or there is no config.
 */
export function nodeSetLabels(config: SriovOperatorConfig | AfxdpOperatorConfig | undefined): Labels {
  const selector = config?.spec?.configDaemonNodeSelector ?? {};
  return Object.keys(selector).length > 0 ? selector : defaultLabels;
}
