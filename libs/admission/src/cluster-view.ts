// SPDX-License-Identifier: Apache-2.0
/**
 * The cluster as admission sees it: the webhook fills it from its caches, the CLI from files.
 * Usage: `admit(review, { namespace, nodes, policies, pools, networks, operatorConfig, nics })`.
 */
import type { SriovNetworkNodePolicy, SriovNetworkPoolConfig, SriovOperatorConfig } from "@switchyard/api";
import { defaultNicPolicy, type NicPolicy, type PodUse } from "@switchyard/policy";
import type { NodeFacts } from "./node-facts.ts";

/** What is in the cluster, without regard to the object under review: it may be here already or not yet. */
export interface ClusterView {
  /** The operator's: its own kinds are honoured there only. */
  readonly namespace: string;
  readonly nodes: readonly NodeFacts[];
  /** Of the operator's namespace. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** Of the operator's namespace. */
  readonly pools: readonly SriovNetworkPoolConfig[];
  /** "default" in the operator's namespace. */
  readonly operatorConfig?: SriovOperatorConfig | undefined;
  readonly nics: NicPolicy;
  /** What the pods on a node use; absent where nobody knows them. */
  readonly podsOn?: ((node: string) => readonly PodUse[]) | undefined;
}

/** No nodes, no objects: what can be said of an object alone is said. */
export function emptyView(namespace: string): ClusterView {
  return { namespace, nodes: [], policies: [], pools: [], nics: defaultNicPolicy(undefined) };
}
