// SPDX-License-Identifier: Apache-2.0
/**
 * readLinuxBridges reads the Linux bridges that Switchyard created, in the shape of SriovNetworkNodeState.status. Bridges of
 * other programs are left out.
 * Usage: `const linux = await readLinuxBridges(host, interfaces)`.
 */
import { defined, type InterfaceStatus, type LinuxBridge } from "@switchyard/api";
import type { Host, LinuxBridgeFacts } from "@switchyard/host";
import { shownPort } from "@switchyard/plan";

/** Rejects with HostError. */
export async function readLinuxBridges(
  { linuxBridges }: Host,
  interfaces: readonly InterfaceStatus[],
): Promise<readonly LinuxBridge[]> {
  const bridges = await linuxBridges.listBridges();
  return bridges
    .filter(({ isOwn }) => isOwn)
    .map((bridge) => toStatus(bridge, interfaces))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Ports that are not PFs, such as representors, come and go with pods. */
function toStatus(bridge: LinuxBridgeFacts, interfaces: readonly InterfaceStatus[]): LinuxBridge {
  const { name, adminUp, vlanFiltering, vlanProtocol, ports } = bridge;
  const uplinks = ports.flatMap((port) => {
    const pf = interfaces.find((each) => each.name === port.name);
    if (pf === undefined) return [];
    const uplink = shownPort(port.settings);
    const isDefault = Object.keys(uplink).length === 0;
    return [{ pciAddress: pf.pciAddress, name: port.name, ...(!isDefault && { uplink }) }];
  });
  return {
    name,
    bridge: { vlanFiltering, ...defined({ vlanProtocol }) },
    linkAdminState: adminUp ? "up" : "down",
    ...(uplinks.length > 0 && { uplinks }),
  };
}
