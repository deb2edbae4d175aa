// SPDX-License-Identifier: Apache-2.0
/**
 * placementProblems finds DaemonSets that can run on no node, and says why: labels that no node has, or taints that the pods
 * do not tolerate. A DaemonSet without a node has 0 desired pods, which looks like one that is complete.
 */
import { labels as ownLabels, type Node, type Taint } from "@switchyard/api";
import { hasLabels, labelsOf, type Labels } from "@switchyard/policy";
import type { DaemonSet, Manifest } from "./objects/kube-objects.ts";
import type { NodeAffinity, PodSpec, Toleration } from "./objects/pod-template.ts";
import type { RenderedComponent } from "./rendered-components.ts";

/**
 * Returns a sentence for each reason, with the DaemonSets that it concerns. Empty if `nodes` is empty, because then the
 * nodes are not known.
 */
export function placementProblems(
  components: readonly Pick<RenderedComponent, "state" | "objects">[],
  nodes: readonly Node[],
): readonly string[] {
  if (nodes.length === 0) return [];
  const names = new Map<string, string[]>();
  for (const { state, objects } of components) {
    for (const manifest of state === "deployed" ? objects : []) {
      if (!isDaemonSet(manifest)) continue;
      const reason = reasonFor(manifest.spec.template.spec, nodes);
      if (reason !== undefined) names.set(reason, [...(names.get(reason) ?? []), manifest.metadata.name]);
    }
  }
  return [...names].map(([reason, sets]) => `${sets.join(", ")} can run on no node: ${reason}`);
}

/** Whether it is a DaemonSet whose nodes get its label only while they have VFs. */
export function runsOnlyWithVfs(manifest: Manifest): boolean {
  return isDaemonSet(manifest) && labelsOfVfs.some((label) => label in manifest.spec.template.spec.nodeSelector);
}

/** Labels that the operator sets while a node has VFs. */
const labelsOfVfs: readonly string[] = [ownLabels.devicePlugin, ownLabels.draDriver];

function isDaemonSet(manifest: Manifest): manifest is DaemonSet {
  return manifest.kind === "DaemonSet" && "spec" in manifest;
}

function reasonFor(pod: Placement, nodes: readonly Node[]): string | undefined {
  const candidates = nodes.filter((node) => isSelected(node, pod));
  if (candidates.length === 0) return `${describeNodes(nodes.length)} ${describeLabels(pod)}`;
  const blocked = candidates.map((node) => (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, pod)));
  if (blocked.some((taints) => taints.length === 0)) return undefined;
  const texts = [...new Set(blocked.flat().map(describeTaint))].sort();
  const shown = texts.slice(0, maxTaints).join(", ");
  const which = candidates.length === 1 ? "the only node with its labels has" : "all nodes with its labels have";
  return `${which} taints that it does not tolerate (${shown}${texts.length > maxTaints ? ", …" : ""})`;
}

type Placement = Pick<PodSpec, "nodeSelector" | "affinity" | "tolerations">;

/** Taints that are shown. */
const maxTaints = 5;

function isSelected(node: Node, { nodeSelector, affinity }: Placement): boolean {
  const labels = labelsOf(node);
  if (!hasLabels(labels, withoutOwnLabel(nodeSelector))) return false;
  const terms = ownTerms(affinity);
  return terms?.some((term) => term.matchExpressions.every(({ key }) => Object.hasOwn(labels, key))) ?? true;
}

/** Without the labels that the operator sets while a node has VFs, nothing is wrong. */
function withoutOwnLabel(selector: Labels = {}): Labels {
  return Object.fromEntries(Object.entries(selector).filter(([key]) => !labelsOfVfs.includes(key)));
}

/**
 * The terms of the affinity that Switchyard itself gives to pods; undefined for one of an administrator, which the scheduler explains
 * in the events of the pods.
 */
function ownTerms(affinity: Placement["affinity"]): readonly OwnTerm[] | undefined {
  const terms: unknown = at(at(at(affinity, "nodeAffinity"), required), "nodeSelectorTerms");
  return Array.isArray(terms) && terms.every(isOwnTerm) ? terms : undefined;
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";

type OwnTerm = NodeAffinity["nodeAffinity"][typeof required]["nodeSelectorTerms"][number];

function isOwnTerm(term: unknown): term is OwnTerm {
  const expressions = at(term, "matchExpressions");
  if (at(term, "matchFields") !== undefined || !Array.isArray(expressions)) return false;
  return expressions.every((one) => at(one, "operator") === "Exists" && typeof at(one, "key") === "string");
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** Taints that only prefer other nodes do not keep a pod away. */
function isTolerated({ key, value = "", effect }: Taint, { tolerations = [] }: Placement): boolean {
  if (effect === "PreferNoSchedule") return true;
  return tolerations.some((toleration: Toleration) => {
    const isValue = toleration.operator === "Exists" || (toleration.value ?? "") === value;
    return isValue && (toleration.key ?? key) === key && (toleration.effect ?? effect) === effect;
  });
}

function describeNodes(count: number): string {
  return count === 1 ? "the only node of the cluster does not have" : `none of the ${count} nodes of the cluster has`;
}

function describeLabels({ nodeSelector, affinity }: Placement): string {
  const pairs = Object.entries(withoutOwnLabel(nodeSelector)).map(([key, value]) => `${key}=${value}`);
  const terms = ownTerms(affinity) ?? [];
  const anyOf = terms.flatMap(({ matchExpressions }) => matchExpressions.map(({ key }) => key));
  return [
    ...(pairs.length === 0 ? [] : [`the labels ${pairs.join(", ")}`]),
    ...(anyOf.length === 0 ? [] : [`one of the labels ${anyOf.join(", ")}`]),
  ].join(" and ");
}

function describeTaint({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}
