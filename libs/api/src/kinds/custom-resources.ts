// SPDX-License-Identifier: Apache-2.0
/**
 * customResources lists the kinds that Switchyard defines. `npm run generate` writes a CRD, a schema and a
 * documentation page for each of them, from the interface that has the kind's name.
 */
import { bridgeNetworks } from "./bridge-network.ts";
import type { CustomResource } from "./custom-resource.ts";
import { ovsNetworks } from "./ovs-network.ts";
import { sriovIBNetworks } from "./sriov-ib-network.ts";
import { sriovNetworks } from "./sriov-network.ts";
import { sriovNetworkNodePolicies } from "./sriov-network-node-policy.ts";
import { sriovNetworkNodeStates } from "./sriov-network-node-state.ts";
import { sriovNetworkPoolConfigs } from "./sriov-network-pool-config.ts";
import { sriovOperatorConfigs } from "./sriov-operator-config.ts";

/** All kinds that Switchyard defines. */
export const customResources: readonly CustomResource[] = [
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  sriovNetworks,
  sriovIBNetworks,
  ovsNetworks,
  bridgeNetworks,
];
