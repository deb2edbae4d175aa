// SPDX-License-Identifier: Apache-2.0
/**
 * Which changes wake which keys: as few as are concerned, so that an event without effect costs next to nothing.
 * Usage: `fromCache(policies, (change) => nodesAffectedByPolicy(change, nodes))`.
 */
import type { Node, SriovNetworkNodePolicy, SriovOperatorConfig } from "@switchyard/api";
import { equalJson, type Cache, type Change } from "@switchyard/kube";
import { hasLabels, labelsOf } from "@switchyard/policy";
import type { NodeStateFacts } from "./node-state-facts.ts";
import type { MergeResults } from "./merge-results.ts";

/**
 * Nodes that the policy selects or selected, where what it asks has changed, be it to and fro: mergeResults are of a generation.
 * Its status is our own writing.
 */
export function nodesAffectedByPolicy(change: Change<SriovNetworkNodePolicy>, nodes: Cache<Node>): readonly string[] {
  const { before, after } = change;
  if (equalJson(asked(before), asked(after))) return [];
  const selectors = [before, after].flatMap((policy) => (policy === undefined ? [] : [policy.spec.nodeSelector]));
  return nodes
    .list()
    .filter((node) => selectors.some((selector) => hasLabels(labelsOf(node), selector)))
    .map(({ metadata }) => metadata.name);
}

function asked(policy: SriovNetworkNodePolicy | undefined) {
  return policy && { generation: policy.metadata.generation, spec: policy.spec };
}

/** The node of a state whose spec, discovered NICs or deadline changed: a daemon's progress changes no merge. */
export function nodeAffectedByState({ key, before, after }: Change<NodeStateFacts>): readonly string[] {
  const concerns = (state: NodeStateFacts | undefined) =>
    state && { uid: state.uid, spec: state.spec, interfaces: state.interfaces, keepStateUntil: state.keepStateUntil };
  return equalJson(concerns(before), concerns(after)) ? [] : [key];
}

/**
 * Whether a state came to what we said of its node, and there is nothing to do about it: our own writing that we hear of.
 * Not so for a state in place of another one, which somebody else may have made, or for one that was to be deleted.
 */
export function isOwnWrite({ before, after }: Change<NodeStateFacts>, mergeResults: MergeResults): boolean {
  if (after === undefined || after.keepStateUntil !== undefined) return false;
  return (before === undefined || before.uid === after.uid) && mergeResults.isApplied(after);
}

/** Whether the nodes' states depend on what changed of the config: its spec, or that it is another one, or goes. */
export function affectsNodes({ before, after }: Change<SriovOperatorConfig>): boolean {
  const concerns = (config: SriovOperatorConfig | undefined) =>
    config && {
      spec: config.spec,
      uid: config.metadata.uid,
      isTerminating: config.metadata.deletionTimestamp !== undefined,
    };
  return !equalJson(concerns(before), concerns(after));
}
