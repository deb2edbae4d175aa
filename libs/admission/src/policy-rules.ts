// SPDX-License-Identifier: Apache-2.0
/** All rules about policies, in the order in which their findings are told. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import type { ClusterView } from "./cluster-view.ts";
import type { Finding } from "./finding.ts";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { policyContext, type PolicyRule } from "./policy-context.ts";
import { checkBridge } from "./rules/bridge.ts";
import { checkDeviceType, checkVdpaVendor } from "./rules/device-type.ts";
import { checkExternallyManaged } from "./rules/externally-managed.ts";
import { checkHonoured } from "./rules/honoured.ts";
import { checkMtu } from "./rules/mtu.ts";
import { checkMergeable, checkNetFilter, checkPciIds } from "./rules/nic-selector.ts";
import { checkNumVfs, checkVfLimit } from "./rules/num-vfs.ts";
import { checkExcludeTopology, checkPolicyConflicts } from "./rules/policy-conflicts.ts";
import { checkReach } from "./rules/reach.ts";
import { checkResourceName } from "./rules/resource-name.ts";
import { checkSupportedNics } from "./rules/supported-nics.ts";

const rules: readonly PolicyRule[] = [
  checkResourceName,
  checkMergeable,
  checkPciIds,
  checkNetFilter,
  checkNumVfs,
  checkDeviceType,
  checkBridge,
  checkSupportedNics,
  checkReach,
  checkVfLimit,
  checkMtu,
  checkVdpaVendor,
  checkExternallyManaged,
  checkPolicyConflicts,
  checkExcludeTopology,
];

/** Everything that is to say about the policy. One that nobody looks at is only told that. */
export function policyFindings(policy: SriovNetworkNodePolicy, view: ClusterView): readonly Finding[] {
  const honoured = checkHonoured(policy, view);
  if (isIgnoredPolicy(policy)) return honoured;
  const context = policyContext(policy, view);
  return [...honoured, ...rules.flatMap((rule) => rule(policy, context))];
}
