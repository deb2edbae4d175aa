// SPDX-License-Identifier: Apache-2.0
/**
 * These functions return the nodes that a change of an object affects, so that an event without effect costs almost
 * nothing.
 */
import type { Node, SriovNetworkNodePolicy, SriovOperatorConfig } from "@switchyard/api";
import { equalJson, type Cache, type CacheChange } from "@switchyard/kube";
import { hasLabels, labelsOf } from "@switchyard/policy";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { MergeResults } from "./merge-results.ts";

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
