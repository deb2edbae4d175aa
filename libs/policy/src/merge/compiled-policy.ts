// SPDX-License-Identifier: Apache-2.0
/**
 * CompiledPolicy is a policy prepared for use on many nodes: everything that does not depend on the node is parsed and
 * validated once.
 * Usage: `const compiled = compilePolicy(policy, { manageBridges }); compiled.isUsable && entryFor(compiled, nic)`.
 */
import type { InterfaceStatus, Result, SriovNetworkNodePolicy } from "@switchyard/api";
import { bridgeProblems, wantsBridge } from "./bridges.ts";
import { isEmptyNicSelector, isNameOf, parseNetFilter } from "../nics/nic-selector.ts";
import { parsePfName, type PfName, type PfNameProblem } from "../nics/pf-name.ts";
import { policyProblem, type PolicyProblem } from "../policy-problem.ts";
import { priorityOf } from "../order.ts";

/** A policy, parsed and validated. */
export interface CompiledPolicy {
  readonly policy: SriovNetworkNodePolicy;
  /** Result of priorityOf for the policy. */
  readonly priority: number;
  /** The parsed entries of nicSelector.pfNames. */
  readonly pfNames: readonly Result<PfName, PfNameProblem>[];
  /** Problems that the policy has on every node. */
  readonly problems: readonly PolicyProblem[];
  /** False if the policy cannot be applied to any NIC; `problems` has the reason. */
  readonly isUsable: boolean;
}

/** Parses and validates a policy. `manageBridges` is the feature gate manageSoftwareBridges. */
export function compilePolicy(
  policy: SriovNetworkNodePolicy,
  { manageBridges }: { readonly manageBridges: boolean },
): CompiledPolicy {
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
 * Returns the entry of pfNames that selects VFs of the PF. It is the first entry with the PF's name or one of its
 * alternative names (upstream ignores the range after an alternative name, sriov-operator.md M-4). Undefined if no
 * entry names the PF: then all VFs are selected. A failed result if the range of that entry is invalid; `problems`
 * describes it.
 */
export function entryFor(compiled: CompiledPolicy, nic: InterfaceStatus): Result<PfName, PfNameProblem> | undefined {
  return compiled.pfNames.find((entry) => names(entry, nic));
}

/**
 * Returns a problem for each entry of pfNames that has no effect on the PF because an earlier entry selects other VFs
 * of it.
 */
export function repeatedNames(compiled: CompiledPolicy, nic: InterfaceStatus): readonly PolicyProblem[] {
  const first = entryFor(compiled, nic);
  if (!first?.ok) return [];
  return compiled.pfNames.flatMap((entry, index) => {
    if (!entry.ok || !names(entry, nic) || sameVfs(entry.value, first.value)) return [];
    const field = `spec.nicSelector.pfNames[${index}]`;
    const value = compiled.policy.spec.nicSelector.pfNames?.[index];
    const message =
      `has no effect on ${nic.pciAddress}, because an earlier entry selects other VFs of it: ` +
      "a policy can select one range per PF, so create a second policy for the other range";
    return [policyProblem(compiled.policy, { code: "pf-named-twice", field, value, message })];
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
    const message = "matches no NIC: set at least one of vendor, deviceID, rootDevices, pfNames and netFilter";
    return [
      policyProblem(policy, { code: "empty-nic-selector", field: "spec.nicSelector", value: nicSelector, message }),
    ];
  }
  const { netFilter: value } = nicSelector;
  if (!value || parseNetFilter(value) !== undefined) return [];
  const message =
    `"${value}" does not name a network: use KEY:VALUE, ` +
    'such as "openstack/NetworkID:" followed by the UUID of the network';
  return [policyProblem(policy, { code: "bad-net-filter", field: "spec.nicSelector.netFilter", value, message })];
}

function pfNameProblem(policy: SriovNetworkNodePolicy, index: number, problem: PfNameProblem): PolicyProblem {
  const { code, name, text: value } = problem;
  const field = `spec.nicSelector.pfNames[${index}]`;
  if (code === "no-name") {
    const message = `"${value}" does not name a PF: start with the name, such as "ens1f0" or "ens1f0#0-3"`;
    return policyProblem(policy, { code: "no-pf-name", field, value, message });
  }
  const advice = code === "reversed" ? "the lower VF index must come first" : `use FIRST-LAST, such as "${name}#0-3"`;
  const message = `"${value}" has an invalid VF range, so the policy is not applied to ${name}: ${advice}`;
  return policyProblem(policy, { code: "bad-vf-range", field, value, message });
}

function bridgesDisabled(policy: SriovNetworkNodePolicy): PolicyProblem {
  const message =
    "no bridge is created, because the feature gate manageSoftwareBridges is off: " +
    "set spec.featureGates.manageSoftwareBridges to true in the SriovOperatorConfig";
  return policyProblem(policy, { code: "bridges-disabled", field: "spec.bridge", value: policy.spec.bridge, message });
}
