// SPDX-License-Identifier: Apache-2.0
/**
 * The configuration of the CNI plugin of each network kind. It has upstream's keys in upstream's order, and omits keys
 * under the same conditions (sriov-operator.md D, cnis.md 1.2, 2.1, 7).
 */
import type {
  AfxdpNetworkSpec,
  AfxdpProvider,
  BridgeNetworkSpec,
  OVSNetworkSpec,
  SriovIBNetworkSpec,
  SriovNetworkSpec,
  TrunkRange,
} from "@switchyard/api";
import { joinObjects, jsonObject, type JsonObject } from "./json.ts";
import type { NetworkTexts } from "./network-texts.ts";

type Texts = Pick<NetworkTexts, "capabilities" | "ipam">;

/** Returns the configuration of the plugin sriov. It always has vlan and vlanQoS, which are 0 by default. */
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

/** Returns the configuration of the plugin ib-sriov. Upstream does not have the three keys before ipam. */
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

/** Returns the configuration of the plugin ovs. A vlan of 0 is omitted; then the port carries all VLANs. */
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

/** Returns the configuration of the plugin accelerated-bridge. */
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

/** The CNI plugin of AfxdpNetworks. */
export interface AfxdpPlugin {
  readonly provider: AfxdpProvider;
  /** Names of the devices, if host-device finds them by name. */
  readonly names: readonly string[];
}

/**
 * Returns the configuration of the plugin of an AfxdpNetwork (eve-and-afxdp.md b2). With ids, host-device finds the
 * device by the id from the kubelet, a PCI address or the name of a subfunction, which Multus passes to plugins with
 * the capability deviceID. It refuses an id that is a name. With names, host-device finds the device by its name.
 * Upstream's plugin afxdp is for devices that are not subfunctions. With dpSyncer, it tells the device plugin that a
 * pod has gone.
 */
export function afxdpPlugin(
  spec: AfxdpNetworkSpec,
  { provider, names }: AfxdpPlugin,
  { capabilities, ipam }: Texts,
): JsonObject {
  if (provider === "switchyard") {
    const [device] = names;
    if (device !== undefined) return jsonObject({ type: "host-device", device, capabilities, ipam });
    const all = joinObjects(capabilities ?? jsonObject({}), jsonObject({ deviceID: true }));
    return jsonObject({ type: "host-device", capabilities: all, ipam });
  }
  return jsonObject({
    type: "afxdp",
    capabilities,
    mode: "primary",
    ethtoolCmds: spec.ethtoolCmds?.length ? spec.ethtoolCmds : undefined,
    dpSyncer: true,
    ipam,
  });
}

function trunkOf(ranges: readonly TrunkRange[] = []): readonly JsonObject[] | undefined {
  if (ranges.length === 0) return undefined;
  return ranges.map(({ minID, maxID, id }) => jsonObject({ minID, maxID, id }));
}
