// SPDX-License-Identifier: Apache-2.0
/** Implements LinuxBridges on the interfaces of the fake kernel, with the errors of net/bridge (6.12). */
import type { LinuxBridgePortSettings, LinuxBridges } from "../ports/linux-bridges.ts";
import type { FakeBridge, Netdev, Netdevs } from "./fake-netdevs.ts";
import { answer, Refusal } from "./faults.ts";

/** What a new bridge has. */
export const newBridge: FakeBridge = { isOwn: false, isComplete: false, vlanFiltering: false, vlanProtocol: "802.1Q" };

/** What a new port has. The kernel computes path_cost from the speed of the link. */
const newPort: LinuxBridgePortSettings = {
  priority: 32,
  path_cost: 100,
  hairpin_mode: 0,
  bpdu_guard: 0,
  root_block: 0,
  multicast_fast_leave: 0,
  learning: 1,
  unicast_flood: 1,
  proxyarp: 0,
  proxyarp_wifi: 0,
  multicast_router: 1,
  multicast_flood: 1,
  multicast_to_unicast: 0,
  broadcast_flood: 1,
  neigh_suppress: 0,
  isolated: 0,
};

/** The largest value of a setting; 255 for flags, of which the kernel takes any number except 0 as on. */
const largest: Readonly<Record<string, number>> = { priority: 63, path_cost: 65_535, multicast_router: 2 };

export function createFakeLinuxBridges(netdevs: Netdevs): LinuxBridges {
  function own(name: string): Netdev & { readonly bridge: FakeBridge } {
    const netdev = netdevs.listVisible().find((each) => each.name === name);
    if (!isBridge(netdev)) throw new Refusal("ENODEV");
    if (!netdev.bridge.isOwn) throw new Refusal("EPERM", "the bridge belongs to another program");
    return netdev;
  }

  function portOf(bridge: Netdev, name: string): Netdev {
    const port = netdevs.find(name);
    if (port.masterIndex !== bridge.index) throw new Refusal("EINVAL", "not a port of the bridge");
    return port;
  }

  function portsOf(bridge: Netdev & { readonly bridge: FakeBridge }): readonly Netdev[] {
    return bridge.bridge.isOwn ? netdevs.listVisible().filter(({ masterIndex }) => masterIndex === bridge.index) : [];
  }

  return {
    listBridges: () =>
      answer(() =>
        netdevs
          .listVisible()
          .filter(isBridge)
          .map((netdev) => ({
            name: netdev.name,
            adminUp: netdev.adminUp,
            ...netdev.bridge,
            ports: portsOf(netdev).map(({ name, parent, portSettings }) => ({
              name,
              ...(parent && { parent: { bus: "pci", name: parent } }),
              settings: portSettings,
            })),
          })),
      ),
    createBridge: (name) =>
      answer(() => {
        if (name.length > 15 || !/^[^\s/:]+$/.test(name)) throw new Refusal("EINVAL");
        const existing = netdevs.listVisible().find((each) => each.name === name);
        if (existing === undefined) netdevs.addVirtual({ name, kind: "bridge", bridge: { ...newBridge, ...complete } });
        else if (existing.bridge?.isOwn !== true) throw new Refusal("EEXIST", existing.bridge && foreign);
        else netdevs.change(existing, (bridge) => (bridge.bridge = { ...newBridge, ...existing.bridge, ...complete }));
      }),
    setVlans: (name, { filtering: vlanFiltering, protocol: vlanProtocol }) =>
      answer(() => {
        const bridge = own(name);
        netdevs.change(bridge, (changed) => (changed.bridge = { ...bridge.bridge, vlanFiltering, vlanProtocol }));
      }),
    addPort: (name, portName) =>
      answer(() => {
        const bridge = own(name);
        const port = netdevs.find(portName);
        if (port.masterIndex === bridge.index) return;
        if (port.masterIndex !== undefined) throw new Refusal("EBUSY", "port of another interface");
        if (port.kind === "bridge") throw new Refusal("ELOOP", "Can not enslave a bridge to a bridge");
        netdevs.change(port, (added) => {
          added.masterIndex = bridge.index;
          added.portSettings = newPort;
        });
      }),
    removePort: (name, portName) =>
      answer(() => {
        netdevs.change(portOf(own(name), portName), (port) => {
          port.masterIndex = undefined;
          port.portSettings = {};
        });
      }),
    setPort: (name, portName, settings) =>
      answer(() => {
        const port = portOf(own(name), portName);
        for (const [setting, value] of Object.entries(settings)) {
          const isKnown = newPort[setting] !== undefined && Number.isInteger(value) && value >= 0;
          if (!isKnown || value > (largest[setting] ?? 255))
            throw new Refusal("EINVAL", `${setting} cannot be ${value}`);
        }
        netdevs.change(port, (changed) => (changed.portSettings = { ...changed.portSettings, ...settings }));
      }),
    setAdminUp: (name, up) =>
      answer(() => {
        const bridge = own(name);
        if (bridge.adminUp !== up) netdevs.change(bridge, (changed) => (changed.adminUp = up));
      }),
    deleteBridge: (name) =>
      answer(() => {
        netdevs.remove(own(name));
      }),
  };
}

const complete = { isOwn: true, isComplete: true } as const;
const foreign = "the bridge belongs to another program";

function isBridge(netdev: Netdev | undefined): netdev is Netdev & { readonly bridge: FakeBridge } {
  return netdev?.bridge !== undefined;
}
