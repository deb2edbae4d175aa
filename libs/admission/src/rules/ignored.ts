// SPDX-License-Identifier: Apache-2.0
/** checkIgnored warns about policies that the operator ignores because of their namespace or name (sriov-operator.md E.2). */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { warn, type Finding } from "../finding.ts";
import { isIgnoredPolicy } from "../ignored-policy.ts";

export function checkIgnored(
  policy: SriovNetworkNodePolicy,
  { namespace }: { readonly namespace: string },
): readonly Finding[] {
  const findings: Finding[] = [];
  if (policy.metadata.namespace !== namespace) {
    findings.push(
      warn(
        "metadata.namespace",
        `this policy has no effect: the operator uses policies of namespace ${namespace} only`,
      ),
    );
  }
  if (isIgnoredPolicy(policy)) findings.push(warn("metadata.name", 'a policy named "default" has no effect'));
  return findings;
}
