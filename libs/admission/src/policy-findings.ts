// SPDX-License-Identifier: Apache-2.0
/** policyFindings runs all rules about policies. The order of the rules is the order of the findings. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isIgnoredPolicy, policyContext, type AdmissionCache, type PolicyCheck } from "./policy-context.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { ReviewFinding } from "./finding.ts";
import { checkBridge, checkIgnored, checkResourceName } from "./rules/single-fields.ts";
import { checkDeviceType, checkVdpaVendor, checkVfioVendor } from "./rules/device-type.ts";
import { checkExternallyManaged, checkMtu, checkNumVfs, checkVfLimit } from "./rules/pf-limits.ts";
import { checkMergeable, checkNetFilter, checkPciIds } from "./rules/nic-selector.ts";
import { checkPolicyConflicts, checkResourceSettings } from "./rules/policy-conflicts.ts";
import { checkReservedVf } from "./rules/reserved-vf.ts";
import { checkSmartNicHosts } from "./rules/smart-nic-hosts.ts";
import { checkSupportedNics } from "./rules/supported-nics.ts";
import { checkBroadSelector, checkListEntries, checkNodeSelector, checkTargets } from "./rules/targets.ts";

const checks: readonly PolicyCheck[] = [
  checkResourceName,
  checkMergeable,
  checkPciIds,
  checkNetFilter,
  checkNumVfs,
  checkDeviceType,
  checkBridge,
  checkSupportedNics,
  checkNodeSelector,
  checkTargets,
  checkVfLimit,
  checkMtu,
  checkVdpaVendor,
  checkVfioVendor,
  checkExternallyManaged,
  checkReservedVf,
  checkSmartNicHosts,
  checkPolicyConflicts,
  checkResourceSettings,
  checkListEntries,
  checkBroadSelector,
];

/** All findings about the policy. For a policy with a name that the operator ignores, only the finding that says so. */
export function policyFindings(
  policy: SriovNetworkNodePolicy,
  view: ClusterView,
  cache: AdmissionCache,
): readonly ReviewFinding[] {
  const ignored = checkIgnored(policy, view);
  if (isIgnoredPolicy(policy)) return ignored;
  const context = policyContext(policy, view, cache);
  return [...ignored, ...checks.flatMap((check) => check(policy, context))];
}
