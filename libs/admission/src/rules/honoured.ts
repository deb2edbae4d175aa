// SPDX-License-Identifier: Apache-2.0
/** Objects that nobody acts on (sriov-operator.md E.2): of another namespace, or of a name that is passed over. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { warn, type Finding } from "../finding.ts";
import { isIgnoredPolicy } from "../ignored-policy.ts";

export function checkHonoured(policy: SriovNetworkNodePolicy, { namespace }: { readonly namespace: string }) {
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
