// SPDX-License-Identifier: Apache-2.0
/**
 * A policy made ready for many nodes: what does not depend on the node is read and judged once.
 * Usage: `const rule = compilePolicy(policy, { manageBridges }); rule.isUsable && vfsOn(rule, nic)`.
 */
import type { InterfaceStatus, Result, SriovNetworkNodePolicy } from "@switchyard/api";
import { bridgeProblems, wantsBridge } from "./bridges.ts";
import { parseNetFilter } from "../nics/net-filter.ts";
import { isEmptyNicSelector, isNameOf } from "../nics/nic-selector.ts";
import { parsePfName, type PfName, type PfNameProblem } from "../nics/pf-name.ts";
import { policyProblem, type PolicyProblem } from "./policy-problem.ts";
import { priorityOf } from "./policy-order.ts";

/** A policy, read and judged. */
export interface PolicyRule {
  readonly policy: SriovNetworkNodePolicy;
  /** priorityOf the policy. */
  readonly priority: number;
  /** nicSelector.pfNames, entry by entry. */
  readonly pfNames: readonly Result<PfName, PfNameProblem>[];
  /** What is wrong with it on every node. */
  readonly problems: readonly PolicyProblem[];
  /** False: it can be applied nowhere, as `problems` says. */
  readonly isUsable: boolean;
}

/** Reads and judges a policy; `manageBridges` is the gate manageSoftwareBridges. */
export function compilePolicy(
  policy: SriovNetworkNodePolicy,
  { manageBridges }: { readonly manageBridges: boolean },
): PolicyRule {
  const pfNames = (policy.spec.nicSelector.pfNames ?? []).map(parsePfName);
  const fatal = [...selectorProblems(policy), ...(manageBridges ? bridgeProblems(policy) : [])];
  const partial = pfNames.flatMap((entry, index) => (entry.ok ? [] : [pfNameProblem(policy, index, entry.error)]));
  const warnings = !manageBridges && wantsBridge(policy) ? [bridgesDisabled(policy)] : [];
  return {
    policy,
    priority: priorityOf(policy),
    pfNames,
    problems: [...fatal, ...partial, ...warnings],
    isUsable: fatal.length === 0,
  };
}

/**
 * The pfNames entry that says which VFs of the PF are meant: the first one with its name or an alternative name of it
 * (upstream forgets the range of the latter, M-4). Undefined where none does, which means all VFs. A problem where that
 * entry's range is bad: `problems` of the rule has it.
 */
export function entryFor(rule: PolicyRule, nic: InterfaceStatus): Result<PfName, PfNameProblem> | undefined {
  return rule.pfNames.find((entry) => names(entry, nic));
}

/** Entries that have no effect on the PF, since an earlier one names it with other VFs. */
export function repeatedNames(rule: PolicyRule, nic: InterfaceStatus): readonly PolicyProblem[] {
  const first = entryFor(rule, nic);
  if (!first?.ok) return [];
  return rule.pfNames.flatMap((entry, index) => {
    if (!entry.ok || !names(entry, nic) || sameVfs(entry.value, first.value)) return [];
    const field = `spec.nicSelector.pfNames[${index}]`;
    const value = rule.policy.spec.nicSelector.pfNames?.[index];
    const message =
      `has no effect on ${nic.pciAddress}, which an earlier entry names: a policy takes one range of a PF, ` +
      "so make a second policy for the other";
    return [policyProblem(rule.policy, { code: "pf-named-twice", field, value, message })];
  });
}

function names(entry: Result<PfName, PfNameProblem>, nic: InterfaceStatus): boolean {
  return isNameOf(entry.ok ? entry.value.name : entry.error.name, nic);
}

function sameVfs(a: PfName, b: PfName): boolean {
  return a.range?.first === b.range?.first && a.range?.last === b.range?.last;
}

function selectorProblems(policy: SriovNetworkNodePolicy): readonly PolicyProblem[] {
  const { nicSelector } = policy.spec;
  if (isEmptyNicSelector(nicSelector)) {
    const message = "matches no NIC: give at least one of vendor, deviceID, rootDevices, pfNames and netFilter";
    return [
      policyProblem(policy, { code: "empty-nic-selector", field: "spec.nicSelector", value: nicSelector, message }),
    ];
  }
  const { netFilter: value } = nicSelector;
  if (!value || parseNetFilter(value) !== undefined) return [];
  const message = `"${value}" names no network: write KEY:VALUE, such as "openstack/NetworkID:" and the network's UUID`;
  return [policyProblem(policy, { code: "bad-net-filter", field: "spec.nicSelector.netFilter", value, message })];
}

function pfNameProblem(policy: SriovNetworkNodePolicy, index: number, problem: PfNameProblem): PolicyProblem {
  const { code, name, text: value } = problem;
  const field = `spec.nicSelector.pfNames[${index}]`;
  if (code === "no-name") {
    const message = `"${value}" names no PF: write its name first, such as "ens1f0" or "ens1f0#0-3"`;
    return policyProblem(policy, { code: "no-pf-name", field, value, message });
  }
  const right = code === "reversed" ? "the lower VF index comes first" : `write the VFs as FIRST-LAST: "${name}#0-3"`;
  const message = `"${value}" has no proper range of VFs, so the policy is not applied to ${name}: ${right}`;
  return policyProblem(policy, { code: "bad-vf-range", field, value, message });
}

function bridgesDisabled(policy: SriovNetworkNodePolicy): PolicyProblem {
  const message =
    "no bridge is made while the feature gate manageSoftwareBridges is off: set it to true in SriovOperatorConfig";
  return policyProblem(policy, { code: "bridges-disabled", field: "spec.bridge", value: policy.spec.bridge, message });
}
