// SPDX-License-Identifier: Apache-2.0
/** Rules about AfxdpOperatorConfig. */
import { operatorConfigName, type AfxdpOperatorConfig } from "@switchyard/api";
import { afxdpPolicyProblems, afxdpProviderOf } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { refuse, warn, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";

export function checkAfxdpOperatorConfig(config: AfxdpOperatorConfig, view: ClusterView): readonly Finding[] {
  const { name, namespace } = config.metadata;
  const findings: Finding[] = [];
  if (name !== operatorConfigName) {
    findings.push(
      refuse("metadata.name", `must be "${operatorConfigName}": the operator reads no other AfxdpOperatorConfig`),
    );
  }
  if (namespace !== view.namespace) {
    findings.push(refuse("metadata.namespace", `must be ${quote(view.namespace)}, the namespace of the operator`));
  }
  if (config.spec?.disableDrain === true) {
    findings.push(
      warn("spec.disableDrain", "nodes are reconfigured without a drain: running pods lose their AF_XDP devices"),
    );
  }
  return [...findings, ...policyWarnings(config, view)];
}

/** The policies that the device plugin of the provider cannot offer, which are therefore not applied. */
function policyWarnings(config: AfxdpOperatorConfig, { afxdp }: ClusterView): readonly Finding[] {
  const provider = afxdpProviderOf(config);
  return (afxdp?.policies ?? []).flatMap((policy) =>
    afxdpPolicyProblems(policy, provider)
      .filter(({ code }) => code === "provider-cannot")
      .map(({ policyName, field, message }) => {
        return warn("spec.provider", `policy ${policyName} is not applied: ${field}: ${message}`);
      }),
  );
}
