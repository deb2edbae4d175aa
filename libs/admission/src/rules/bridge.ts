// SPDX-License-Identifier: Apache-2.0
/**
 * checkBridge checks spec.bridge (sriov-operator.md E.2): the rules for Linux bridges, and the feature gate. The rules for
 * OVS bridges are in libs/policy and are checked by nic-selector.ts.
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
    findings.push(
      refuse("spec.bridge", "must be either ovs or linux, not both: a PF can be attached to one bridge only"),
    );
  }
  if (linux !== undefined && spec.eSwitchMode !== "switchdev") {
    findings.push(refuse("spec.eSwitchMode", 'must be "switchdev" if spec.bridge is set'));
  }
  if (linux !== undefined && spec.externallyManaged === true) {
    const message =
      "must be false or omitted if spec.bridge is set: externally managed PFs are not attached to bridges";
    findings.push(refuse("spec.externallyManaged", message));
  }
  if (!isGateOn("manageSoftwareBridges", view.operatorConfig)) {
    const message =
      "no bridge is created while the feature gate manageSoftwareBridges is off: set spec.featureGates.manageSoftwareBridges to true in SriovOperatorConfig/default";
    findings.push(warn("spec.bridge", message));
  }
  return findings;
}
