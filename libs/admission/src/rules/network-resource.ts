// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about the resource of a network: whether a policy provides it, and whether its VFs suit the kind of the network. All of
 * them warn, because a policy can be created or changed later.
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { hasLabels, matchesNic, nearestName } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, quote, warn, type ReviewFinding } from "../finding.ts";
import type { ReviewedNetwork } from "../review.ts";

/** A network whose VFs belong to a resource of SriovNetworkNodePolicies. */
type VfNetwork = Exclude<ReviewedNetwork, { readonly kind: "AfxdpNetwork" }>;

/** `network` has a spec.resourceName. */
export function checkNetworkResource(network: VfNetwork, view: ClusterView): readonly ReviewFinding[] {
  const { resourceName } = network.spec;
  const providers = view.policies.filter((policy) => policy.spec.resourceName === resourceName);
  if (providers.length === 0) {
    const like = nearestName(resourceName, new Set(view.policies.map(({ spec: { resourceName: known } }) => known)));
    const near = like === undefined ? "" : `; nearest match: ${quote(like)}`;
    const message = `no SriovNetworkNodePolicy provides the resource ${quote(resourceName)} yet${near}`;
    return [warn("spec.resourceName", message)];
  }
  if (network.kind === "OVSNetwork" || network.kind === "BridgeNetwork") {
    return [
      ...checkRepresentors(network.kind, resourceName, providers),
      ...checkMtu(network.spec.mtu, providers, view),
    ];
  }
  return checkLinkType(network.kind, resourceName, providers, view);
}

/** An externally managed PF can be in mode switchdev although its policy does not say so. */
function checkRepresentors(
  kind: "OVSNetwork" | "BridgeNetwork",
  resourceName: string,
  providers: readonly SriovNetworkNodePolicy[],
): readonly ReviewFinding[] {
  const legacy = providers.filter(
    ({ spec }) => spec.externallyManaged !== true && (spec.eSwitchMode || "legacy") !== "switchdev",
  );
  if (legacy.length === 0) return [];
  const names = listNames(legacy.map(({ metadata }) => metadata.name));
  const message = `VFs of ${quote(resourceName)} by ${names} have no representor, which the bridge of a ${kind} needs`;
  return [warn("spec.resourceName", `${message}: set spec.eSwitchMode to "switchdev" there`)];
}

/** A VF cannot have a larger MTU than its PF, which has that of the policy, or its own without one. */
function checkMtu(
  mtu: number | undefined,
  providers: readonly SriovNetworkNodePolicy[],
  view: ClusterView,
): readonly ReviewFinding[] {
  if (!mtu) return [];
  const smaller = providers.flatMap((policy) => {
    const least = policy.spec.mtu || Math.min(...pfsOf(policy, view).flatMap(({ mtu: own }) => own || []));
    return least < mtu ? [{ name: policy.metadata.name, least }] : [];
  });
  const [first] = smaller;
  if (first === undefined) return [];
  const names = listNames(smaller.map(({ name }) => name));
  const message = `${mtu} is more than the MTU ${first.least} of the PFs of ${names}: set spec.mtu to ${mtu} there`;
  return [warn("spec.mtu", message)];
}

function checkLinkType(
  kind: "SriovNetwork" | "SriovIBNetwork",
  resourceName: string,
  providers: readonly SriovNetworkNodePolicy[],
  view: ClusterView,
): readonly ReviewFinding[] {
  const types = new Set(providers.flatMap((policy) => linkTypesOf(policy, view)));
  const [only] = types;
  if (types.size !== 1 || only === undefined) return [];
  const isInfiniBand = only === "IB";
  if (isInfiniBand === (kind === "SriovIBNetwork")) return [];
  const [found, right] = isInfiniBand ? ["InfiniBand", "SriovIBNetwork"] : ["Ethernet", "SriovNetwork"];
  const message = `the VFs of ${quote(resourceName)} are ${found} devices: use a ${right} for them`;
  return [warn("spec.resourceName", message)];
}

/** "ETH" or "IB" of the PFs that the policy selects: as it requests, else as the nodes report. Empty if neither is known. */
function linkTypesOf(policy: SriovNetworkNodePolicy, view: ClusterView): readonly string[] {
  if (policy.spec.linkType) return [policy.spec.linkType.toUpperCase()];
  return pfsOf(policy, view).flatMap(({ linkType }) => (linkType ? [linkType.toUpperCase()] : []));
}

/** The PFs that the policy selects, as the nodes report them. */
function pfsOf({ spec }: SriovNetworkNodePolicy, { nodes }: ClusterView): readonly InterfaceStatus[] {
  // Equal statuses are the same object: node-for-review.ts.
  const statuses = new Set(
    nodes.flatMap(({ labels, state }) => (state && hasLabels(labels, spec.nodeSelector) ? [state.status] : [])),
  );
  return [...statuses].flatMap(({ interfaces = [] }) => interfaces.filter((nic) => matchesNic(spec.nicSelector, nic)));
}
