// SPDX-License-Identifier: Apache-2.0
/**
 * What the policies make of one node: its SriovNetworkNodeState.spec (sriov-operator.md B.4, B.6-B.8).
 * Usage: `const { spec, problems } = mergePolicies(node, state.status?.interfaces ?? [], createRules(…))`.
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
import { entryFor, repeatedNames, type PolicyRule } from "./policy-rule.ts";
import { compareText } from "./policy-order.ts";
import { policyProblem, type PolicyProblem } from "./policy-problem.ts";
import { rdmaModeOf } from "../pools/pools.ts";
import type { Rules } from "./rules.ts";
import { mergePf } from "../vfs/vf-groups.ts";
import { allVfs } from "../vfs/vf-range.ts";

/** Where a policy is applied on a node. */
export interface PolicyMatch {
  readonly policyName: string;
  /**
   * PFs of the node that the policy is applied to, in the order of the status. A stronger policy may still have taken
   * all that it asked for there: then no group in spec.interfaces[].vfGroups has its name.
   */
  readonly pciAddresses: readonly string[];
}

/** What becomes of a node. */
export interface MergedNode {
  /** Without keys that would be zero or empty; `{}` where nothing is wanted. */
  readonly spec: SriovNetworkNodeStateSpec;
  /** What is wrong with policies on this node, in the order of application. */
  readonly problems: readonly PolicyProblem[];
  /** One entry for each policy that selects the node, in the order of application. */
  readonly matches: readonly PolicyMatch[];
}

/**
 * Merges the policies that select the node, from the weakest to the strongest, over the PFs that its daemon reported.
 * Without any (not discovered yet) only the system settings come out. A policy that is wrong is left out here, on the
 * one PF or on all that it is wrong for, and changes nothing of what the others yield.
 *
 * A PF that Switchyard has configured and that no policy selects is listed in spec.unselected, which allows the node to
 * reset it. It is not listed while a policy might select it: one that names PFs, while the PF's network interface is
 * absent, or one that is wrong.
 *
 * spec.interfaces is in the order in which policies reached the PFs, and within one policy in the order of the status;
 * spec.bridges.ovs is sorted by name.
 */
export function mergePolicies(node: Node, interfaces: readonly InterfaceStatus[], rules: Rules): MergedNode {
  const selecting = rulesSelecting(node, rules);
  const usable = selecting.filter(({ isUsable }) => isUsable);
  const merged = withFormerNames(interfaces).map((nic) => mergeNic(nic, usable, rules));
  const outcomes = selecting.map((rule) => judge(rule, merged, rules));
  const unselected = merged
    .filter(
      ({ nic, spec }, index) => nic.owned === true && spec === undefined && isUnwanted(interfaces[index], selecting),
    )
    .map(({ nic }) => nic.pciAddress);
  return {
    spec: { ...specOf(merged, rdmaModeOf(node, rules)), ...(unselected.length > 0 && { unselected }) },
    problems: outcomes.flatMap(({ problems }) => problems),
    matches: outcomes.map(({ match }) => match),
  };
}

/**
 * The policies whose nodeSelector selects the node, from the weakest to the strongest. Whether a NIC matches plays no
 * role.
 */
export function policiesSelecting(node: Node, rules: Rules): readonly SriovNetworkNodePolicy[] {
  return rulesSelecting(node, rules).map(({ policy }) => policy);
}

/** One PF, all policies applied. */
interface MergedNic {
  readonly nic: InterfaceStatus;
  /** Undefined where no policy wants VFs. */
  readonly spec: InterfaceSpec | undefined;
  /** Place, among the policies, of the first one that contributed to `spec`. */
  readonly firstApplied: number;
  readonly bridge: OvsBridge | undefined;
  readonly applied: ReadonlySet<PolicyRule>;
}

/**
 * PF by PF where upstream goes policy by policy: no PF depends on another, so the result is the same, and a policy that
 * is bad for this PF can be passed over as if it were not there.
 */
function mergeNic(nic: InterfaceStatus, rules: readonly PolicyRule[], { manageBridges, nics }: Rules): MergedNic {
  const applied = new Set<PolicyRule>();
  let spec: InterfaceSpec | undefined;
  let firstApplied = rules.length;
  let strongest: SriovNetworkNodePolicy | undefined;
  // The policy before counts even if it matched no NIC: upstream reads "equal priority" so (sriov-operator.md B.4).
  let previousPriority: number | undefined;

  for (const [index, rule] of rules.entries()) {
    const { policy, priority } = rule;
    if (matchesNic(policy.spec.nicSelector, nic) && mayTake(policy.spec.nicSelector, nic, nics)) {
      const entry = entryFor(rule, nic);
      if (entry?.ok === false) continue;
      applied.add(rule);
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
  // The strongest decides, also where it has no bridge or no VFs: then weaker ones' bridges go (sriov-operator.md B.7).
  const bridge = manageBridges && strongest !== undefined ? ovsBridgeFor(strongest, nic) : undefined;
  return { nic, spec, firstApplied, bridge, applied };
}

/**
 * Whether it is certain that no policy wants VFs of the PF. `nic` is as reported: the interface that is absent has no name.
 */
function isUnwanted(nic: InterfaceStatus | undefined, selecting: readonly PolicyRule[]): boolean {
  if (nic === undefined) return false;
  return !selecting.some((rule) => {
    const { nicSelector } = rule.policy.spec;
    const isCertain = rule.isUsable && entryFor(rule, nic)?.ok !== false && matchesNic(nicSelector, nic);
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

function judge(
  rule: PolicyRule,
  merged: readonly MergedNic[],
  rules: Rules,
): { match: PolicyMatch; problems: PolicyProblem[] } {
  const nics = merged.filter(({ applied }) => applied.has(rule)).map(({ nic }) => nic);
  const problems = [...rule.problems, ...nics.flatMap((nic) => repeatedNames(rule, nic))];
  if (nics.length === 0 && merged.length > 0 && !problems.some(({ severity }) => severity === "error")) {
    problems.push(noMatch(rule.policy, merged, rules));
  }
  const pciAddresses = nics.map(({ pciAddress }) => pciAddress);
  return { match: { policyName: rule.policy.metadata.name, pciAddresses }, problems };
}

function noMatch(policy: SriovNetworkNodePolicy, merged: readonly MergedNic[], { nics }: Rules): PolicyProblem {
  const { nicSelector: value } = policy.spec;
  const nicsOfNode = merged.map(({ nic }) => nic);
  const more = nicsOfNode.length - mostNics;
  const shown = nicsOfNode.slice(0, mostNics).map(describeNic);
  const present = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const advice = adviceOnBarred(value, nicsOfNode, nics) ?? "correct nicSelector or narrow nodeSelector";
  const message = `matches none of the node's NICs, which are ${present}: ${advice}`;
  return policyProblem(policy, { code: "no-match", field: "spec.nicSelector", value, message });
}

const mostNics = 16;

/** "ens1f0 (0000:3b:00.0, 8086:158b)" */
function describeNic({ name, pciAddress, vendor = "?", deviceID = "?" }: InterfaceStatus): string {
  return `${name ?? "unnamed"} (${pciAddress}, ${vendor}:${deviceID})`.slice(0, longestNic);
}

/** No real one is as long; a node can write any text into its status. */
const longestNic = 64;

function rulesSelecting(node: Node, rules: Rules): readonly PolicyRule[] {
  const labels = labelsOf(node);
  return rules.policyRules.filter(({ policy }) => hasLabels(labels, policy.spec.nodeSelector));
}
