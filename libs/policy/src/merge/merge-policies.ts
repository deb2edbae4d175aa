// SPDX-License-Identifier: Apache-2.0
/**
 * mergePolicies merges the policies that select a node into the spec of its SriovNetworkNodeState
 * (sriov-operator.md B.4, B.6, B.7, B.8).
 * Usage: `const { spec, problems } = mergePolicies(node, interfaces, createRules({ policies, pools }));`
 */
import type {
  InterfaceSpec,
  InterfaceStatus,
  Node,
  OvsBridge,
  SriovNetworkNodePolicy,
  SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { ovsBridgeFor } from "./bridges.ts";
import { withFormerNames } from "../nics/former-names.ts";
import { hasLabels, labelsOf } from "../nodes/label-selector.ts";
import { adviceOnBarred, mayTake } from "../nics/nic-policy.ts";
import { couldMatchNic, matchesNic } from "../nics/nic-selector.ts";
import { entryFor, repeatedNames, type CompiledPolicy } from "./compiled-policy.ts";
import { compareText } from "../compare-text.ts";
import { policyProblem, type PolicyProblem } from "./policy-problem.ts";
import { rdmaModeOf } from "../pools/pools.ts";
import type { Rules } from "./rules.ts";
import { mergePf } from "../vfs/vf-groups.ts";
import { allVfs } from "../vfs/vf-range.ts";

/** Where a policy is applied on a node. */
export interface PolicyMatch {
  readonly policyName: string;
  /**
   * PFs of the node to which the policy is applied, in the order of the status. If policies of higher priority have
   * taken all of its VFs on a PF, no group in spec.interfaces[].vfGroups has the policy's name.
   */
  readonly pciAddresses: readonly string[];
}

/** Result of merging the policies of a node. */
export interface MergedNode {
  /** Spec of the node state, without zero and empty values; `{}` if no policy applies. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** Problems of the policies on this node, in the order of application. */
  readonly problems: readonly PolicyProblem[];
  /** One entry for each policy that selects the node, in the order of application. */
  readonly matches: readonly PolicyMatch[];
}

/**
 * Merges the policies that select the node, from the lowest to the highest priority, over the PFs that the node's
 * daemon reported. If `interfaces` is empty because the node has not reported yet, the result only has the system
 * settings. An invalid policy is omitted for the PFs that the problem concerns, and has no effect on the result of the
 * others.
 *
 * A PF that Switchyard has configured and that no policy selects is listed in spec.unselected, so that the node resets
 * it. It is not listed while a policy could still select it: a policy that selects PFs by name while the PF's network
 * interface is absent, or an invalid policy.
 *
 * spec.interfaces is ordered by the first policy that applies to each PF, and by the order of the status for one
 * policy. spec.bridges.ovs is sorted by name.
 */
export function mergePolicies(node: Node, interfaces: readonly InterfaceStatus[], rules: Rules): MergedNode {
  const selecting = compiledSelecting(node, rules);
  const usable = selecting.filter(({ isUsable }) => isUsable);
  const merged = withFormerNames(interfaces).map((nic) => mergeNic(nic, usable, rules));
  const results = selecting.map((compiled) => resultOf(compiled, merged, rules));
  const unselected = merged
    .filter(
      ({ nic, spec }, index) => nic.owned === true && spec === undefined && isUnwanted(interfaces[index], selecting),
    )
    .map(({ nic }) => nic.pciAddress);
  return {
    spec: { ...specOf(merged, rdmaModeOf(node, rules)), ...(unselected.length > 0 && { unselected }) },
    problems: results.flatMap(({ problems }) => problems),
    matches: results.map(({ match }) => match),
  };
}

/**
 * Returns the policies whose nodeSelector selects the node, from the lowest to the highest priority, whether or not
 * they match a NIC.
 */
export function policiesSelecting(node: Node, rules: Rules): readonly SriovNetworkNodePolicy[] {
  return compiledSelecting(node, rules).map(({ policy }) => policy);
}

/** One PF with all policies applied. */
interface MergedNic {
  readonly nic: InterfaceStatus;
  /** Undefined if no policy requests VFs on the PF. */
  readonly spec: InterfaceSpec | undefined;
  /** Index of the first policy that contributed to `spec`. */
  readonly firstApplied: number;
  readonly bridge: OvsBridge | undefined;
  readonly applied: ReadonlySet<CompiledPolicy>;
}

/**
 * Applies all policies to one PF. Upstream iterates over policies first and PFs second. The result is the same, because
 * PFs do not depend on each other, and this order makes it simple to skip a policy that is invalid for one PF only.
 */
function mergeNic(
  nic: InterfaceStatus,
  policies: readonly CompiledPolicy[],
  { manageBridges, nics }: Rules,
): MergedNic {
  const applied = new Set<CompiledPolicy>();
  let spec: InterfaceSpec | undefined;
  let firstApplied = policies.length;
  let strongest: SriovNetworkNodePolicy | undefined;
  // The previous policy counts even if it matched no NIC; this is upstream's notion of equal priority
  // (sriov-operator.md B.4).
  let previousPriority: number | undefined;

  for (const [index, compiled] of policies.entries()) {
    const { policy, priority } = compiled;
    if (matchesNic(policy.spec.nicSelector, nic) && mayTake(policy.spec.nicSelector, nic, nics)) {
      const entry = entryFor(compiled, nic);
      if (entry?.ok === false) continue;
      applied.add(compiled);
      const all = allVfs(policy.spec.numVfs);
      if (all !== undefined) {
        const vfs = entry?.value.range ?? all;
        spec = mergePf(spec, { policy, nic, vfs }, previousPriority === priority);
        firstApplied = Math.min(firstApplied, index);
      }
      strongest = policy;
    }
    previousPriority = priority;
  }
  // The policy of the highest priority decides about the bridge. If it has no bridge or no VFs, bridges of other
  // policies
  // are dropped (sriov-operator.md B.7).
  const bridge = manageBridges && strongest !== undefined ? ovsBridgeFor(strongest, nic) : undefined;
  return { nic, spec, firstApplied, bridge, applied };
}

/**
 * Reports whether it is certain that no policy requests VFs on the PF. `nic` is the PF as reported, without recorded
 * names; it has no name if its network interface is absent.
 */
function isUnwanted(nic: InterfaceStatus | undefined, selecting: readonly CompiledPolicy[]): boolean {
  if (nic === undefined) return false;
  return !selecting.some((compiled) => {
    const { nicSelector } = compiled.policy.spec;
    const isCertain = compiled.isUsable && entryFor(compiled, nic)?.ok !== false && matchesNic(nicSelector, nic);
    return !isCertain && couldMatchNic(nicSelector, nic);
  });
}

function specOf(merged: readonly MergedNic[], rdmaMode: "shared" | "exclusive" | undefined): SriovNetworkNodeStateSpec {
  const interfaces = merged
    .toSorted((a, b) => a.firstApplied - b.firstApplied)
    .flatMap(({ spec }) => (spec === undefined ? [] : [spec]));
  const ovs = merged
    .flatMap(({ bridge }) => (bridge === undefined ? [] : [bridge]))
    .sort((a, b) => compareText(a.name, b.name));
  return {
    ...(interfaces.length > 0 && { interfaces }),
    ...(ovs.length > 0 && { bridges: { ovs } }),
    ...(rdmaMode && { system: { rdmaMode } }),
  };
}

/** Returns the PFs to which the policy is applied and its problems on this node. */
function resultOf(
  compiled: CompiledPolicy,
  merged: readonly MergedNic[],
  rules: Rules,
): { match: PolicyMatch; problems: PolicyProblem[] } {
  const nics = merged.filter(({ applied }) => applied.has(compiled)).map(({ nic }) => nic);
  const problems = [...compiled.problems, ...nics.flatMap((nic) => repeatedNames(compiled, nic))];
  if (nics.length === 0 && merged.length > 0 && !problems.some(({ severity }) => severity === "error")) {
    problems.push(noMatch(compiled.policy, merged, rules));
  }
  const pciAddresses = nics.map(({ pciAddress }) => pciAddress);
  return { match: { policyName: compiled.policy.metadata.name, pciAddresses }, problems };
}

function noMatch(policy: SriovNetworkNodePolicy, merged: readonly MergedNic[], { nics }: Rules): PolicyProblem {
  const { nicSelector: value } = policy.spec;
  const nicsOfNode = merged.map(({ nic }) => nic);
  const more = nicsOfNode.length - maxListedNics;
  const shown = nicsOfNode.slice(0, maxListedNics).map(describeNic);
  const present = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const advice = adviceOnBarred(value, nicsOfNode, nics) ?? "correct nicSelector or narrow nodeSelector";
  const message = `matches no NIC of the node; its NICs are ${present}: ${advice}`;
  return policyProblem(policy, { code: "no-match", field: "spec.nicSelector", value, message });
}

const maxListedNics = 16;

/** Formats a NIC: "ens1f0 (0000:3b:00.0, 8086:158b)". */
function describeNic({ name, pciAddress, vendor = "?", deviceID = "?" }: InterfaceStatus): string {
  return `${name ?? "unnamed"} (${pciAddress}, ${vendor}:${deviceID})`.slice(0, maxNicLength);
}

/** Limits what a node can put into a message: it can write any text into its status. Real NICs need less. */
const maxNicLength = 64;

function compiledSelecting(node: Node, rules: Rules): readonly CompiledPolicy[] {
  const labels = labelsOf(node);
  return rules.compiledPolicies.filter(({ policy }) => hasLabels(labels, policy.spec.nodeSelector));
}
