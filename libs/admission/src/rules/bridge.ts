// SPDX-License-Identifier: Apache-2.0
/**
 * checkBridge warns about a spec.bridge that has no effect because of the feature gate. The rules for bridges are in
 * libs/policy and are checked by nic-selector.ts.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import { warn, type Finding } from "../finding.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkBridge({ spec }: SriovNetworkNodePolicy, { view }: PolicyContext): readonly Finding[] {
  const { ovs, linux } = spec.bridge ?? {};
  if (ovs === undefined && linux === undefined) return [];
  if (isGateOn("manageSoftwareBridges", view.operatorConfig)) return [];
  const message =
    "no bridge is created while the feature gate manageSoftwareBridges is off: set spec.featureGates.manageSoftwareBridges to true in SriovOperatorConfig/default";
  return [warn("spec.bridge", message)];
}
