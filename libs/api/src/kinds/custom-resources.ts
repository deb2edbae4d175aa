// SPDX-License-Identifier: Apache-2.0
/**
 * customResources and Kinds list the kinds that Switchyard defines, as values and as types. `npm run generate` writes a CRD, a schema and a
 * documentation page for each of them, from the interface that has the kind's name.
 */
import { afxdpNetworks, type AfxdpNetwork } from "./afxdp/afxdp-network.ts";
import { afxdpNetworkNodePolicies, type AfxdpNetworkNodePolicy } from "./afxdp/afxdp-network-node-policy.ts";
import { afxdpNetworkNodeStates, type AfxdpNetworkNodeState } from "./afxdp/afxdp-network-node-state.ts";
import { afxdpOperatorConfigs, type AfxdpOperatorConfig } from "./afxdp/afxdp-operator-config.ts";
import { bridgeNetworks, type BridgeNetwork } from "./bridge-network.ts";
import type { CustomResource } from "./custom-resource.ts";
import { ovsNetworks, type OVSNetwork } from "./ovs-network.ts";
import { sriovIBNetworks, type SriovIBNetwork } from "./sriov-ib-network.ts";
import { sriovNetworks, type SriovNetwork } from "./sriov-network.ts";
import { sriovNetworkNodePolicies, type SriovNetworkNodePolicy } from "./sriov-network-node-policy.ts";
import { sriovNetworkNodeStates, type SriovNetworkNodeState } from "./sriov-network-node-state.ts";
import { sriovNetworkPoolConfigs, type SriovNetworkPoolConfig } from "./sriov-network-pool-config.ts";
import { sriovOperatorConfigs, type SriovOperatorConfig } from "./sriov-operator-config.ts";

/** The objects of each kind, by the name of the kind. */
export interface Kinds {
  readonly SriovNetworkNodePolicy: SriovNetworkNodePolicy;
  readonly SriovNetworkNodeState: SriovNetworkNodeState;
  readonly SriovNetworkPoolConfig: SriovNetworkPoolConfig;
  readonly SriovOperatorConfig: SriovOperatorConfig;
  readonly SriovNetwork: SriovNetwork;
  readonly SriovIBNetwork: SriovIBNetwork;
  readonly OVSNetwork: OVSNetwork;
  readonly BridgeNetwork: BridgeNetwork;
  readonly AfxdpNetwork: AfxdpNetwork;
  readonly AfxdpNetworkNodePolicy: AfxdpNetworkNodePolicy;
  readonly AfxdpNetworkNodeState: AfxdpNetworkNodeState;
  readonly AfxdpOperatorConfig: AfxdpOperatorConfig;
}

/** The kinds for SR-IOV, of the group sriovnetwork.openshift.io. */
export const sriovResources: readonly CustomResource[] = [
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  sriovNetworks,
  sriovIBNetworks,
  ovsNetworks,
  bridgeNetworks,
];

/** The kinds for AF_XDP, of the group afxdpnetwork.hns.dev. A cluster may have those of one group only. */
export const afxdpResources: readonly CustomResource[] = [
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  afxdpNetworks,
];

/** All kinds that Switchyard defines. */
export const customResources: readonly CustomResource[] = [...sriovResources, ...afxdpResources];
