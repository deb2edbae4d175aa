// SPDX-License-Identifier: Apache-2.0
/**
 * checkSmartNicHosts warns about settings that hosts cannot have while OVN runs on their SmartNIC: the eswitch belongs to the card's
 * own system, and Open vSwitch does not run on the host.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { offloadHostOf } from "@switchyard/policy";
import { listNames, warn, type ReviewFinding } from "../finding.ts";
import type { PolicyContext } from "../policy-context.ts";
import { asNode } from "../policy-targets.ts";
import { futureHost, selectedHosts } from "./reserved-vf.ts";

export function checkSmartNicHosts(policy: SriovNetworkNodePolicy, context: PolicyContext): readonly ReviewFinding[] {
  const isSwitchdev = policy.spec.eSwitchMode?.toLowerCase() === "switchdev";
  const isOvs = policy.spec.bridge?.ovs !== undefined;
  if (!isSwitchdev && !isOvs) return [];
  const { targets, view } = context;
  const selected = selectedHosts(view);
  const withCard = new Set<string>();
  const hosts = new Set<string>();
  for (const { groups, layout, pfs } of targets.matches) {
    for (const node of groups.flatMap(({ nodes }) => nodes)) {
      const isSelected = selected.has(node.name);
      const host = offloadHostOf(asNode(node), layout) ?? (isSelected ? futureHost(node, layout) : undefined);
      if (host?.managementPf === undefined) continue;
      hosts.add(node.name);
      if (pfs.some(({ nic }) => host.cardPfs.has(nic.pciAddress))) withCard.add(node.name);
    }
  }
  const findings: ReviewFinding[] = [];
  if (isSwitchdev && withCard.size > 0) {
    const message =
      `cannot be switchdev on the SmartNIC of ${listNames([...withCard])}: OVN runs on the card, whose own system has the eswitch. ` +
      "The policy will be Degraded there: omit eSwitchMode, or select other nodes";
    findings.push(warn("spec.eSwitchMode", message));
  }
  if (isOvs && hosts.size > 0) {
    const message =
      `needs Open vSwitch, which does not run on ${listNames([...hosts])}, because OVN runs on the SmartNIC. ` +
      "The policy will be Degraded there: omit the bridge, or select other nodes";
    findings.push(warn("spec.bridge.ovs", message));
  }
  return findings;
}
