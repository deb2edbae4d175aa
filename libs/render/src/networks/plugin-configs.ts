// SPDX-License-Identifier: Apache-2.0
/**
 * What each kind of network says to its CNI plugin: upstream's keys, in upstream's order, under upstream's conditions
 * (sriov-operator.md D, cnis.md 1.2, 2.1, 7), so that pods see no difference.
 */
import type {
  BridgeNetworkSpec,
  OVSNetworkSpec,
  SriovIBNetworkSpec,
  SriovNetworkSpec,
  TrunkRange,
} from "@switchyard/api";
import { jsonObject, type JsonObject } from "./json.ts";
import type { NetworkTexts } from "./network-texts.ts";

type Texts = Pick<NetworkTexts, "capabilities" | "ipam">;

/** For the plugin sriov. vlan and vlanQoS are always there, as 0 where nothing is said. */
export function sriovPlugin(spec: SriovNetworkSpec, { capabilities, ipam }: Texts): JsonObject {
  return jsonObject({
    type: "sriov",
    vlan: spec.vlan ?? 0,
    spoofchk: spec.spoofChk,
    trust: spec.trust,
    vlanQoS: spec.vlanQoS ?? 0,
    vlanProto: spec.vlanProto,
    min_tx_rate: spec.minTxRate,
    max_tx_rate: spec.maxTxRate,
    capabilities,
    link_state: spec.linkState,
    logLevel: spec.logLevel || undefined,
    logFile: spec.logFile || undefined,
    ipam,
  });
}

/** For the plugin ib-sriov. The three keys before ipam are ours. */
export function ibSriovPlugin(spec: SriovIBNetworkSpec, { capabilities, ipam }: Texts): JsonObject {
  return jsonObject({
    type: "ib-sriov",
    capabilities,
    link_state: spec.linkState,
    pkey: spec.pKey || undefined,
    rdmaIsolation: spec.rdmaIsolation || undefined,
    ibKubernetesEnabled: spec.ibKubernetesEnabled || undefined,
    ipam,
  });
}

/** For the plugin ovs. A vlan of 0 is left out, which makes the port a trunk of all VLANs. */
export function ovsPlugin(spec: OVSNetworkSpec, { capabilities, ipam }: Texts): JsonObject {
  return jsonObject({
    type: "ovs",
    capabilities,
    bridge: spec.bridge || undefined,
    vlan: spec.vlan || undefined,
    mtu: spec.mtu || undefined,
    trunk: trunkOf(spec.trunk),
    interface_type: spec.interfaceType || undefined,
    ipam,
  });
}

/** For the plugin accelerated-bridge. */
export function acceleratedBridgePlugin(spec: BridgeNetworkSpec, bridge: string, texts: Texts): JsonObject {
  return jsonObject({
    type: "accelerated-bridge",
    capabilities: texts.capabilities,
    bridge,
    vlan: spec.vlan || undefined,
    mtu: spec.mtu || undefined,
    trunk: trunkOf(spec.trunk),
    setUplinkVlan: spec.setUplinkVlan || undefined,
    ipam: texts.ipam,
  });
}

function trunkOf(ranges: readonly TrunkRange[] = []): readonly JsonObject[] | undefined {
  if (ranges.length === 0) return undefined;
  return ranges.map(({ minID, maxID, id }) => jsonObject({ minID, maxID, id }));
}
