// SPDX-License-Identifier: Apache-2.0
/** Rules about AfxdpNetwork, in addition to those for networks of all kinds. */
import type { AfxdpNetwork } from "@switchyard/api";
import { afxdpModeOf, afxdpProviderOf } from "@switchyard/policy";
import { networkProblems } from "@switchyard/render";
import type { ClusterView } from "../cluster-view.ts";
import { refuse, warn, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";

export function checkAfxdpNetwork(network: AfxdpNetwork, { afxdp }: ClusterView): readonly Finding[] {
  const { poolName, mode = "primary", ipam } = network.spec;
  const afxdpProvider = afxdpProviderOf(afxdp?.operatorConfig);
  const findings: Finding[] = [];
  const policies = (afxdp?.policies ?? []).filter(({ spec }) => spec.poolName === poolName);
  if (policies.length === 0) {
    findings.push(warn("spec.poolName", `no AfxdpNetworkNodePolicy provides the pool ${quote(poolName)} yet`));
  } else if (afxdpProvider === "upstream" && policies.every((policy) => afxdpModeOf(policy) !== mode)) {
    const other = mode === "primary" ? "subfunction" : "primary";
    findings.push(warn("spec.mode", `is ${mode}, but all policies of pool ${quote(poolName)} have mode ${other}`));
  }
  // As in an example of the proposal.
  if (ipam && /"type"\s*:\s*"afxdp"/.test(ipam)) {
    const message = 'type "afxdp" is no IPAM plugin, so pods would not start: use one such as "host-local"';
    findings.push(warn("spec.ipam", message));
  }
  findings.push(...networkProblems(network, { afxdpProvider }).map(({ field, message }) => refuse(field, message)));
  return findings;
}
