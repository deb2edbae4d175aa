// SPDX-License-Identifier: Apache-2.0
/**
 * These functions return the nodes that a change of an object affects, so that an event without effect costs almost
 * nothing.
 */
import { labels, type Node, type SriovNetworkNodePolicy, type SriovOperatorConfig } from "@switchyard/api";
import { equalJson, type Cache, type CacheChange } from "@switchyard/kube";
import { hasLabels, labelsOf, type Rules } from "@switchyard/policy";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { MergeResults } from "./merge-results.ts";

/**
 * Returns the node if it was created or deleted, or if its labels changed. Labels that this operator sets count only if a policy, a
 * pool or the node set selects by them: it sets them on all nodes of a fleet.
 */
export function nodeAffectedByLabels(
  { key, before, after }: CacheChange<Node>,
  rules: Rules | undefined,
): readonly string[] {
  if (before === undefined || after === undefined) return [key];
  const selectsByOwn = rules !== undefined && selectsByOwnLabels(rules);
  const concerns = (node: Node) => (selectsByOwn ? labelsOf(node) : { ...labelsOf(node), ...withoutOwn });
  return equalJson(concerns(before), concerns(after)) ? [] : [key];
}

const ownLabels: readonly string[] = [labels.devicePlugin, labels.draDriver];
const withoutOwn = Object.fromEntries(ownLabels.map((label) => [label, undefined]));

/** The answer for rules; they are made anew whenever a selector changes. */
const knownSelectors = new WeakMap<Rules, boolean>();

function selectsByOwnLabels(rules: Rules): boolean {
  let known = knownSelectors.get(rules);
  if (known === undefined) {
    const { policies, pools, nodeSet } = rules;
    const selectors = [
      nodeSet,
      ...policies.map(({ spec }) => spec.nodeSelector),
      ...pools.map(({ spec }) => spec?.nodeSelector),
    ];
    const text = JSON.stringify(selectors);
    known = ownLabels.some((label) => text.includes(label));
    knownSelectors.set(rules, known);
  }
  return known;
}

/**
 * Returns the nodes that the policy selects or selected, if its spec or generation changed. The generation counts
 * because merge results record it, even if a spec was changed back. A change of the status is the operator's own write.
 */
export function nodesAffectedByPolicy(
  change: CacheChange<SriovNetworkNodePolicy>,
  nodes: Cache<Node>,
): readonly string[] {
  const { before, after } = change;
  if (equalJson(identity(before), identity(after))) return [];
  const selectors = [before, after].flatMap((policy) => (policy === undefined ? [] : [policy.spec.nodeSelector]));
  return nodes
    .list()
    .filter((node) => selectors.some((selector) => hasLabels(labelsOf(node), selector)))
    .map(({ metadata }) => metadata.name);
}

function identity(policy: SriovNetworkNodePolicy | undefined) {
  return policy && { generation: policy.metadata.generation, spec: policy.spec };
}

/**
 * Returns the node of a state if its spec, NICs or deletion deadline changed. The daemon's progress does not affect the
 * merge.
 */
export function nodeAffectedByState({ key, before, after }: CacheChange<CachedNodeState>): readonly string[] {
  const concerns = (state: CachedNodeState | undefined) =>
    state && { uid: state.uid, spec: state.spec, interfaces: state.interfaces, keepStateUntil: state.keepStateUntil };
  return equalJson(concerns(before), concerns(after)) ? [] : [key];
}

/**
 * Reports whether the change of a state only shows the operator's own write, so that nothing is left to do. It is false
 * for a state that replaces another one, which another client may have created, and for a state with a deletion
 * deadline.
 */
export function isOwnWrite({ before, after }: CacheChange<CachedNodeState>, mergeResults: MergeResults): boolean {
  if (after === undefined || after.keepStateUntil !== undefined) return false;
  return (before === undefined || before.uid === after.uid) && mergeResults.isApplied(after);
}

/**
 * Reports whether the change of the SriovOperatorConfig affects node states: its spec, its uid or its deletion changed.
 */
export function affectsNodes({ before, after }: CacheChange<SriovOperatorConfig>): boolean {
  const concerns = (config: SriovOperatorConfig | undefined) =>
    config && {
      spec: config.spec,
      uid: config.metadata.uid,
      isTerminating: config.metadata.deletionTimestamp !== undefined,
    };
  return !equalJson(concerns(before), concerns(after));
}
