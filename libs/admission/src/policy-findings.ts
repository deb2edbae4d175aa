// SPDX-License-Identifier: Apache-2.0
/**
 * policyFindings runs all rules about policies. The order of the rules is the order of the findings.
 * Usage: `policyFindings(policy, view, cache).filter(({ severity }) => severity === "refusal")`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import type { AdmissionCache } from "./admission-cache.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Finding } from "./finding.ts";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { policyContext, type PolicyCheck } from "./policy-context.ts";
import { checkBridge } from "./rules/bridge.ts";
import { checkDeviceType, checkVdpaVendor } from "./rules/device-type.ts";
import { checkExternallyManaged } from "./rules/externally-managed.ts";
import { checkIgnored } from "./rules/ignored.ts";
import { checkMtu } from "./rules/mtu.ts";
import { checkMergeable, checkNetFilter, checkPciIds } from "./rules/nic-selector.ts";
import { checkNumVfs, checkVfLimit } from "./rules/num-vfs.ts";
import { checkExcludeTopology, checkPolicyConflicts } from "./rules/policy-conflicts.ts";
import { checkReservedVf } from "./rules/reserved-vf.ts";
import { checkResourceName } from "./rules/resource-name.ts";
import { checkSupportedNics } from "./rules/supported-nics.ts";
import { checkNodeSelector, checkTargets } from "./rules/targets.ts";

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
  checkExternallyManaged,
  checkReservedVf,
  checkPolicyConflicts,
  checkExcludeTopology,
];

/** All findings about the policy. For a policy with a name that the operator ignores, only the finding that says so. */
export function policyFindings(
  policy: SriovNetworkNodePolicy,
  view: ClusterView,
  cache: AdmissionCache,
): readonly Finding[] {
  const ignored = checkIgnored(policy, view);
  if (isIgnoredPolicy(policy)) return ignored;
  const context = policyContext(policy, view, cache);
  return [...ignored, ...checks.flatMap((check) => check(policy, context))];
}
