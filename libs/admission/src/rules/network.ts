// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about networks of all kinds (sriov-operator.md E.2). Upstream admits an empty resourceName (sriov-operator.md M-35)
 * and invalid JSON in spec.ipam and spec.metaPlugins (sriov-operator.md M-54), and reports neither later on.
 */
import type { AfxdpNetwork, BridgeNetwork } from "@switchyard/api";
import { afxdpModeOf, afxdpProviderOf } from "@switchyard/policy";
import { networkProblems, unfilteredBridgePolicies, vlanFilteringProblems } from "@switchyard/render";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, quote, refuse, warn, type ReviewFinding } from "../finding.ts";
import type { ReviewedNetwork } from "../review.ts";
import { checkIpam } from "./ipam.ts";
import { checkNetworkResource } from "./network-resource.ts";

export function checkNetwork(network: ReviewedNetwork, view: ClusterView): readonly ReviewFinding[] {
  const { metadata } = network;
  const findings: ReviewFinding[] = [...checkIpam(network.spec.ipam)];
  if (network.spec.networkNamespace && metadata.namespace !== view.namespace) {
    // Upstream's words, which scripts search for: docs/differences.md, "Sentences".
    const rule = `field can't be specified if the resource is not in the ${view.namespace} namespace`;
    const effect = "omit it, and the NetworkAttachmentDefinition is created in the namespace of the network";
    findings.push(refuse("spec.networkNamespace", `${rule}; ${effect}`));
  }
  if (network.kind === "AfxdpNetwork") return [...findings, ...checkAfxdpNetwork(network, view)];
  if (network.spec.resourceName === "") {
    findings.push(refuse("spec.resourceName", "must not be empty: set the resourceName of a SriovNetworkNodePolicy"));
  } else {
    findings.push(...checkNetworkResource(network, view));
  }
  if (network.kind === "OVSNetwork" && network.spec.vlan && (network.spec.trunk ?? []).length > 0) {
    findings.push(warn("spec.vlan", "has no effect beside spec.trunk: omit one of them"));
  }
  if (network.kind === "SriovIBNetwork" && !network.spec.linkState) {
    const message =
      'is not set, so the ports of VFs stay Down, unless the subnet manager supports virtualization: set "enable" or "auto"';
    findings.push(warn("spec.linkState", message));
  }
  if (network.kind === "BridgeNetwork") findings.push(...checkVlanFiltering(network, view));
  findings.push(...networkProblems(network).map(({ field, message }) => refuse(field, message)));
  return findings;
}

/** Which bridges exist is not known here, but which ones the policies create. */
function checkVlanFiltering({ spec }: BridgeNetwork, { policies }: ClusterView): readonly ReviewFinding[] {
  const [first, ...more] = unfilteredBridgePolicies(spec, policies);
  if (first === undefined) return checkUplinkVlan(spec);
  const bridges = more.length === 0 ? `SriovNetworkNodePolicy ${first}` : `the policies ${listNames([first, ...more])}`;
  const cause = `the bridges of ${bridges} do not`;
  return vlanFilteringProblems(spec, cause).map(({ field, message }) => refuse(field, message));
}

/** Without the VLANs on the uplink, the pods of one node reach each other only. That can be meant. */
function checkUplinkVlan({ vlan, trunk = [], setUplinkVlan }: BridgeNetwork["spec"]): readonly ReviewFinding[] {
  if (setUplinkVlan === true || (!vlan && trunk.length === 0)) return [];
  const field = vlan ? "spec.vlan" : "spec.trunk";
  const message =
    "is not added to the uplink of the bridge, so pods reach pods of the same node only, unless something else has added it: set " +
    "spec.setUplinkVlan to true";
  return [warn(field, message)];
}

/** Rules about AfxdpNetwork, in addition to those for networks of all kinds. */
function checkAfxdpNetwork(network: AfxdpNetwork, { afxdp }: ClusterView): readonly ReviewFinding[] {
  const { poolName, mode = "primary", ipam } = network.spec;
  const afxdpProvider = afxdpProviderOf(afxdp?.operatorConfig);
  const findings: ReviewFinding[] = [];
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
