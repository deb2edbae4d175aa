// SPDX-License-Identifier: Apache-2.0
/**
 * Software bridges (sriov-operator.md E.2, 9). What an OVS bridge needs, libs/policy says (nic-selector.ts); these are the
 * rules for Linux bridges, and the feature gate for both.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import { refuse, warn, type Finding } from "../finding.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkBridge({ spec }: SriovNetworkNodePolicy, { view }: PolicyContext): readonly Finding[] {
  const { ovs, linux } = spec.bridge ?? {};
  if (ovs === undefined && linux === undefined) return [];
  const findings: Finding[] = [];
  if (ovs !== undefined && linux !== undefined) {
    findings.push(refuse("spec.bridge", "must be either ovs or linux: a PF is in one bridge only"));
  }
  if (linux !== undefined && spec.eSwitchMode !== "switchdev") {
    findings.push(refuse("spec.eSwitchMode", "must be switchdev, which the bridge needs"));
  }
  if (linux !== undefined && spec.externallyManaged === true) {
    const message = "must be left out with a bridge: whoever configures the PF also puts it into one";
    findings.push(refuse("spec.externallyManaged", message));
  }
  if (!isGateOn("manageSoftwareBridges", view.operatorConfig)) {
    const message =
      "no bridge is made while the feature gate manageSoftwareBridges is off: set it to true in SriovOperatorConfig";
    findings.push(warn("spec.bridge", message));
  }
  return findings;
}
