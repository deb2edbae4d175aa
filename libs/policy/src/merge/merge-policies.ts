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
  SriovNetworkNodePolicy,
  SriovNetworkNodeStateSpec,
  SystemSettings,
} from "@switchyard/api";
import { bridgeFor, bridgeNameProblem, type PfBridge } from "./bridges.ts";
import { withFormerNames } from "../nics/status-pfs.ts";
import { hasLabels, labelsOf } from "../nodes/label-selector.ts";
import { adviceOnExcludedNics, mayConfigure } from "../nics/nic-policy.ts";
import { couldMatchNic, matchesNic } from "../nics/nic-selector.ts";
import { describeNearest, nearestNic } from "../nics/selection-report.ts";
import { entryFor, repeatedNames, type CompiledPolicy } from "./compiled-policy.ts";
import { describeDifference, settingDifferences } from "./resource-settings.ts";
import { compareText } from "../order.ts";
import { policyProblem, type PolicyProblem } from "../policy-problem.ts";
import { offloadHostOf, withReservation, type OffloadHost } from "../offload/offload-host.ts";
import { unreservedVfs } from "../offload/reservation.ts";
import { allocatorFor, rdmaModeOf } from "../pools/pools.ts";
import type { Rules } from "./rules.ts";
import { mergePf } from "../vfs/vf-groups.ts";
import { allVfs, type VfRange } from "../vfs/vf-range.ts";

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
 * On a node whose OVN runs on its SmartNIC, VF 0 of the management PF is in a group of its own, whatever policies request
 * (OffloadHost).
 *
 * spec.interfaces is ordered by the first policy that applies to each PF, and by the order of the status for one
 * policy. The lists of spec.bridges are sorted by name.
 */
export function mergePolicies(node: Node, interfaces: readonly InterfaceStatus[], rules: Rules): MergedNode {
  const selecting = compiledSelecting(node, rules);
  const usable = selecting.filter(({ isUsable }) => isUsable);
  const host = offloadHostOf(node, interfaces);
  const merged = withFormerNames(interfaces).map((nic) => mergeNic(nic, usable, rules, host));
  const results = selecting.map((compiled) => resultOf(compiled, merged, rules));
  const unselected = merged
    .filter(
      ({ nic, spec }, index) =>
        isConfigured(nic) &&
        spec === undefined &&
        nic.pciAddress !== host?.managementPf &&
        isUnwanted(interfaces[index], selecting),
    )
    .map(({ nic }) => nic.pciAddress);
  const shared = sharedResourceProblems(merged, selecting);
  return {
    spec: {
      ...specOf(merged, systemOf(node, rules, host)),
      ...(unselected.length > 0 && { unselected }),
      ...(allocatorFor(node, rules) === "dra" && { allocation: "dra" }),
    },
    problems: results.flatMap(({ match, problems }) => [...problems, ...(shared.get(match.policyName) ?? [])]),
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

/** Reports whether Switchyard configured the PF, or created a bridge for it: a policy without VFs needs only the bridge. */
function isConfigured({ owned, bridge }: InterfaceStatus): boolean {
  return owned === true || bridge !== undefined;
}

/** One PF with all policies applied. */
interface MergedNic {
  readonly nic: InterfaceStatus;
  /** Undefined if no policy requests VFs on the PF. */
  readonly spec: InterfaceSpec | undefined;
  /** Index of the first policy that contributed to `spec`. */
  readonly firstApplied: number;
  readonly bridge: PfBridge | undefined;
  readonly applied: ReadonlySet<CompiledPolicy>;
  /** What is wrong with policies on this PF. */
  readonly problems: ReadonlyMap<CompiledPolicy, readonly PolicyProblem[]>;
}

/**
 * Applies all policies to one PF. Upstream iterates over policies first and PFs second. The result is the same, because
 * PFs do not depend on each other, and this order makes it simple to skip a policy that is invalid for one PF only.
 */
function mergeNic(
  nic: InterfaceStatus,
  policies: readonly CompiledPolicy[],
  { manageBridges, nics }: Rules,
  host: OffloadHost | undefined,
): MergedNic {
  const applied = new Set<CompiledPolicy>();
  const problems = new Map<CompiledPolicy, PolicyProblem[]>();
  let spec: InterfaceSpec | undefined;
  let firstApplied = policies.length;
  let strongest: CompiledPolicy | undefined;
  // The previous policy counts even if it matched no NIC; this is upstream's notion of equal priority
  // (sriov-operator.md B.4).
  let previousPriority: number | undefined;
  const claims = policies.map((compiled) => claimOn(compiled, nic, nics));
  const manager = policies.findLast(({ policy }, at) => claims[at]?.isValid === true && hasVfs(policy))?.policy;

  for (const [index, compiled] of policies.entries()) {
    const { policy, priority } = compiled;
    const claim = claims[index];
    if (claim?.isValid === false) continue;
    if (claim !== undefined && manager !== undefined && isExternal(policy) !== isExternal(manager)) {
      problems.set(compiled, [managementDiffers(policy, manager, nic)]);
      continue;
    }
    if (claim !== undefined) {
      applied.add(compiled);
      const all = allVfs(policy.spec.numVfs);
      if (all !== undefined) {
        const { vfs, problem } = unreservedVfs(policy, { nic, vfs: claim.range ?? all, host });
        if (problem !== undefined) problems.set(compiled, [problem]);
        spec = mergePf(spec, { policy, nic, vfs }, previousPriority === priority);
        firstApplied = Math.min(firstApplied, index);
      }
      strongest = compiled;
    }
    previousPriority = priority;
  }
  spec &&= withReservation(spec, nic, host);
  if (!manageBridges || strongest === undefined)
    return { nic, spec, firstApplied, bridge: undefined, applied, problems };
  // The policy of the highest priority decides about the bridge. If it has no bridge or no VFs, bridges of other policies
  // are dropped (sriov-operator.md B.7).
  const bridge = bridgeFor(strongest.policy, nic);
  const nameProblem = bridgeNameProblem(strongest.policy, nic);
  if (nameProblem !== undefined) problems.set(strongest, [...(problems.get(strongest) ?? []), nameProblem]);
  return { nic, spec, firstApplied, bridge, applied, problems };
}

/** A policy that selects a PF. `range` is undefined if it selects all VFs. */
interface Claim {
  /** Whether the range of the entry for the PF is valid. */
  readonly isValid: boolean;
  readonly range: VfRange | undefined;
}

/** Returns undefined if the policy does not select the PF. */
function claimOn(compiled: CompiledPolicy, nic: InterfaceStatus, nics: Rules["nics"]): Claim | undefined {
  const { nicSelector } = compiled.policy.spec;
  if (!matchesNic(nicSelector, nic) || !mayConfigure(nicSelector, nic, nics)) return undefined;
  const entry = entryFor(compiled, nic);
  return entry?.ok === false ? { isValid: false, range: undefined } : { isValid: true, range: entry?.value.range };
}

function hasVfs({ spec }: SriovNetworkNodePolicy): boolean {
  return allVfs(spec.numVfs) !== undefined;
}

function isExternal({ spec }: SriovNetworkNodePolicy): boolean {
  return spec.externallyManaged === true;
}

function managementDiffers(
  policy: SriovNetworkNodePolicy,
  manager: SriovNetworkNodePolicy,
  { pciAddress }: InterfaceStatus,
): PolicyProblem {
  const message =
    `must be ${isExternal(manager)}, as in policy ${manager.metadata.name}, which takes precedence on ${pciAddress}: ` +
    "either Switchyard or another tool manages a PF, so this policy is not applied to it";
  return policyProblem(policy, {
    code: "externally-managed-differs",
    field: "spec.externallyManaged",
    value: policy.spec.externallyManaged,
    message,
  });
}

/** Problems of policies that share a resource on the node and differ in its settings, by the policies' names. */
function sharedResourceProblems(
  merged: readonly MergedNic[],
  selecting: readonly CompiledPolicy[],
): ReadonlyMap<string, readonly PolicyProblem[]> {
  const groups = merged.flatMap(({ spec }) => spec?.vfGroups ?? []);
  const names = new Set(groups.map(({ policyName }) => policyName));
  // From the lowest to the highest priority: the last one wins.
  const policies = selecting.map(({ policy }) => policy).filter(({ metadata }) => names.has(metadata.name));
  const problems = new Map<string, readonly PolicyProblem[]>();
  if (policies.length < 2) return problems;
  for (const [resourceName, sharing] of Map.groupBy(policies, ({ spec }) => spec.resourceName)) {
    const winner = sharing.at(-1)?.metadata.name ?? "";
    for (const policy of sharing) {
      const [found] = sharing.flatMap((other) =>
        settingDifferences(policy, other).map((difference) => ({ difference, other: other.metadata.name })),
      );
      if (found === undefined) continue;
      const { difference, other } = found;
      const message = describeDifference(difference, { resourceName, policy: other, winner });
      const field = `spec.${difference.setting}`;
      const value = policy.spec[difference.setting];
      problems.set(policy.metadata.name, [
        policyProblem(policy, { code: "resource-setting-differs", field, value, message }),
      ]);
    }
  }
  return problems;
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

function systemOf(node: Node, rules: Rules, host: OffloadHost | undefined): SystemSettings {
  const rdmaMode = rdmaModeOf(node, rules);
  return { ...(rdmaMode && { rdmaMode }), ...(host?.disablesOpenVSwitch && { openVSwitchDisabled: true }) };
}

function specOf(merged: readonly MergedNic[], system: SystemSettings): SriovNetworkNodeStateSpec {
  const interfaces = merged
    .toSorted((a, b) => a.firstApplied - b.firstApplied)
    .flatMap(({ spec }) => (spec === undefined ? [] : [spec]));
  return {
    ...(interfaces.length > 0 && { interfaces }),
    ...bridgesOf(merged),
    ...(Object.keys(system).length > 0 && { system }),
  };
}

function bridgesOf(merged: readonly MergedNic[]): Pick<SriovNetworkNodeStateSpec, "bridges"> {
  const all = merged.flatMap(({ bridge }) => bridge ?? []).sort((a, b) => compareText(a.bridge.name, b.bridge.name));
  const ovs = all.flatMap(({ kind, bridge }) => (kind === "ovs" ? [bridge] : []));
  const linux = all.flatMap(({ kind, bridge }) => (kind === "linux" ? [bridge] : []));
  if (all.length === 0) return {};
  return { bridges: { ...(ovs.length > 0 && { ovs }), ...(linux.length > 0 && { linux }) } };
}

/** Returns the PFs to which the policy is applied and its problems on this node. */
function resultOf(
  compiled: CompiledPolicy,
  merged: readonly MergedNic[],
  rules: Rules,
): { match: PolicyMatch; problems: PolicyProblem[] } {
  const nics = merged.filter(({ applied }) => applied.has(compiled)).map(({ nic }) => nic);
  const problems = [
    ...compiled.problems,
    ...nics.flatMap((nic) => repeatedNames(compiled, nic)),
    ...merged.flatMap((pf) => pf.problems.get(compiled) ?? []),
  ];
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
  const advice = adviceOnExcludedNics(value, nicsOfNode, nics) ?? "correct nicSelector or narrow nodeSelector";
  const nearest = nearestNic(value, nicsOfNode);
  const near = nearest === undefined ? "" : `; nearest match: ${describeNearest(nearest)}`;
  const message = `matches no NIC of the node; its NICs are ${present}${near}: ${advice}`;
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
