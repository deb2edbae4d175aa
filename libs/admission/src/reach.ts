// SPDX-License-Identifier: Apache-2.0
/**
 * Where a policy lands: nodes and their PFs. Nodes with the same cards in the same places are looked at once.
 * Usage: `const reach = reachOf(policy, sorts, view); for (const { sorts, pfs } of reach.landings) …`.
 */
import type { InterfaceStatus, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import {
  createRules,
  mergePolicies,
  nodeSetLabels,
  parseVfRange,
  type NicPolicy,
  type VfRange,
} from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import type { NodeFacts } from "./node-facts.ts";
import { isDiscovered, selects, type DiscoveredSort, type NodeSort } from "./node-sorts.ts";

/** Nodes of one layout on which the policy matches PFs, at least one. */
export interface Landing {
  readonly sorts: readonly DiscoveredSort[];
  readonly layout: readonly InterfaceStatus[];
  /** Places, in the layout and in each status, of the PFs that it matches. */
  readonly pfs: readonly MatchedPf[];
}

export interface MatchedPf {
  readonly index: number;
  /** Name and ids; what is the same on all nodes of the landing. */
  readonly nic: InterfaceStatus;
  /** VFs that the policy takes of it; undefined where it takes none. */
  readonly vfs: VfRange | undefined;
}

export interface Reach {
  /** All nodes that nodeSelector selects. */
  readonly selected: readonly NodeSort[];
  /** Those of them that no daemon runs on, by the operator config's node selector. */
  readonly outside: readonly NodeSort[];
  /** Those in the node set whose cards nobody has reported yet. */
  readonly undiscovered: readonly NodeSort[];
  /** Discovered ones without a PF that matches. */
  readonly unmatched: readonly DiscoveredSort[];
  readonly landings: readonly Landing[];
}

/** `sorts` are made by the labels of the policy's nodeSelector and of the daemon's, at least. */
export function reachOf(policy: SriovNetworkNodePolicy, sorts: readonly NodeSort[], view: ClusterView): Reach {
  const { nodeSelector } = policy.spec;
  const hasDaemon = selects(nodeSetLabels(view.operatorConfig));
  const selected = sorts.filter(selects(nodeSelector));
  const unknown = selected.filter((sort) => !isDiscovered(sort));
  const byLayout = new Map<readonly InterfaceStatus[], DiscoveredSort[]>();
  for (const sort of selected.filter(isDiscovered)) {
    const alike = byLayout.get(sort.state.layout);
    if (alike === undefined) byLayout.set(sort.state.layout, [sort]);
    else alike.push(sort);
  }

  const landings: Landing[] = [];
  const unmatched: DiscoveredSort[] = [];
  for (const [layout, alike] of byLayout) {
    const pfs = matchedPfs(policy, layout, view.nics);
    if (pfs.length > 0) landings.push({ sorts: alike, layout, pfs });
    else unmatched.push(...alike);
  }
  return {
    selected,
    outside: unknown.filter((sort) => !hasDaemon(sort)),
    undiscovered: unknown.filter(hasDaemon),
    unmatched,
    landings,
  };
}

/** The PFs of a layout that the policy is applied to, were it alone. */
export function matchedPfs(
  policy: SriovNetworkNodePolicy,
  layout: readonly InterfaceStatus[],
  nics: NicPolicy,
): readonly MatchedPf[] {
  const known = remembered.get(policy) ?? new WeakMap<readonly InterfaceStatus[], Remembered>();
  remembered.set(policy, known);
  const last = known.get(layout);
  if (last !== undefined && last.known === nics.known && last.unlisted === nics.unlisted) return last.pfs;
  const pfs = matchPfs(policy, layout, nics);
  known.set(layout, { ...nics, pfs });
  return pfs;
}

interface Remembered extends NicPolicy {
  readonly pfs: readonly MatchedPf[];
}

/** Stored policies meet the same layouts in each review. */
const remembered = new WeakMap<SriovNetworkNodePolicy, WeakMap<readonly InterfaceStatus[], Remembered>>();

function matchPfs(
  policy: SriovNetworkNodePolicy,
  layout: readonly InterfaceStatus[],
  nics: NicPolicy,
): readonly MatchedPf[] {
  // A card that strictness forbids is landed on, so that the refusal can name it: rules/supported-nics.ts.
  const unlisted = nics.unlisted === "refuse" ? "warn" : nics.unlisted;
  const rules = createRules({ policies: [everywhere(policy)], pools: [], nics: { ...nics, unlisted } });
  const { spec, matches } = mergePolicies(anyNode, layout, rules);
  const matched = new Set(matches.flatMap(({ pciAddresses }) => pciAddresses));
  const groups = new Map((spec.interfaces ?? []).map(({ pciAddress, vfGroups }) => [pciAddress, vfGroups?.[0]]));
  return layout.flatMap((nic, index) => {
    if (!matched.has(nic.pciAddress)) return [];
    const range = parseVfRange(groups.get(nic.pciAddress)?.vfRange ?? "");
    return [{ index, nic, vfs: range.ok ? range.value : undefined }];
  });
}

/** Tells what each PF of a landing reports, with the nodes that it is so on. */
export function forEachStatus({ landings }: Reach, tell: (pf: InterfaceStatus, sort: DiscoveredSort) => void): void {
  for (const { sorts, pfs } of landings) {
    for (const sort of sorts) {
      for (const { index } of pfs) {
        const pf = sort.state.status.interfaces?.[index];
        if (pf !== undefined) tell(pf, sort);
      }
    }
  }
}

/** The Node object that libs/policy reads. */
export function asNode({ name, labels }: Pick<NodeFacts, "name" | "labels">): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

const anyNode = asNode({ name: "", labels: {} });

function everywhere(policy: SriovNetworkNodePolicy): SriovNetworkNodePolicy {
  return { ...policy, spec: { ...policy.spec, nodeSelector: {} } };
}
