// SPDX-License-Identifier: Apache-2.0
/**
 * customResources lists the kinds that Switchyard defines. `npm run generate` writes a CRD, a schema and a
 * documentation page for each of them, from the interface that has the kind's name.
 */
import { afxdpNetworks } from "./afxdp/afxdp-network.ts";
import { afxdpNetworkNodePolicies } from "./afxdp/afxdp-network-node-policy.ts";
import { afxdpNetworkNodeStates } from "./afxdp/afxdp-network-node-state.ts";
import { afxdpOperatorConfigs } from "./afxdp/afxdp-operator-config.ts";
import { bridgeNetworks } from "./bridge-network.ts";
import type { CustomResource } from "./custom-resource.ts";
import { ovsNetworks } from "./ovs-network.ts";
import { sriovIBNetworks } from "./sriov-ib-network.ts";
import { sriovNetworks } from "./sriov-network.ts";
import { sriovNetworkNodePolicies } from "./sriov-network-node-policy.ts";
import { sriovNetworkNodeStates } from "./sriov-network-node-state.ts";
import { sriovNetworkPoolConfigs } from "./sriov-network-pool-config.ts";
import { sriovOperatorConfigs } from "./sriov-operator-config.ts";

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
