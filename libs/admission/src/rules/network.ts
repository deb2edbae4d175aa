// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about networks of all kinds (sriov-operator.md E.2). Upstream admits an empty resourceName (sriov-operator.md M-35)
 * and invalid JSON in spec.ipam and spec.metaPlugins (sriov-operator.md M-54), and reports neither later on.
 */
import { networkProblems } from "@switchyard/render";
import type { ClusterView } from "../cluster-view.ts";
import { refuse, warn, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";
import type { ReviewedNetwork } from "../review.ts";
import { checkAfxdpNetwork } from "./afxdp-network.ts";

export function checkNetwork(network: ReviewedNetwork, view: ClusterView): readonly Finding[] {
  const { metadata } = network;
  const findings: Finding[] = [];
  if (network.spec.networkNamespace && metadata.namespace !== view.namespace) {
    const message = `must be omitted in namespaces other than ${view.namespace}: the NetworkAttachmentDefinition is created in the namespace of the network`;
    findings.push(refuse("spec.networkNamespace", message));
  }
  if (network.kind === "AfxdpNetwork") return [...findings, ...checkAfxdpNetwork(network, view)];
  const { resourceName } = network.spec;
  if (resourceName === "") {
    findings.push(refuse("spec.resourceName", "must not be empty: set the resourceName of a SriovNetworkNodePolicy"));
  } else if (!view.policies.some((policy) => policy.spec.resourceName === resourceName)) {
    findings.push(
      warn("spec.resourceName", `no SriovNetworkNodePolicy provides the resource ${quote(resourceName)} yet`),
    );
  }
  findings.push(...networkProblems(network).map(({ field, message }) => refuse(field, message)));
  return findings;
}
