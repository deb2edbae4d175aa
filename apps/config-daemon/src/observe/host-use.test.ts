// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Link } from "@switchyard/host";
import { hostUseOf, type HostUseContext } from "./host-use.ts";

const pf = { pciAddress: "0000:01:00.0", name: "eth0" };
const bridgeName = "br-0000_01_00.0";

function link(index: number, name: string, overrides: Partial<Link> = {}): Link {
  const device = { altNames: [], mac: "", mtu: 1500, adminUp: true, promiscuous: false, type: "ether" } as const;
  return { index, name, ...device, hasXdp: false, vfs: [], ...overrides };
}

function useOf(links: readonly Link[], routeLinks: readonly number[], overrides: Partial<HostUseContext> = {}) {
  const routes = [{ text: "default route", links: routeLinks }];
  return hostUseOf(pf, { links, routes, ownBridges: new Set(), bridgeName, ...overrides });
}

describe("hostUseOf", () => {
  it("is empty for a PF without routes", () => {
    expect(useOf([link(2, "eth0"), link(3, "eth1")], [3])).toEqual([]);
  });

  it.each<{ where: string; links: readonly Link[]; route: number }>([
    { where: "on the PF", links: [link(2, "eth0")], route: 2 },
    { where: "on a VLAN", links: [link(2, "eth0"), link(5, "eth0.5", { kind: "vlan", lowerIndex: 2 })], route: 5 },
    {
      where: "on a VLAN of a bond",
      links: [
        link(2, "eth0", { masterIndex: 7 }),
        link(7, "bond0", { kind: "bond" }),
        link(8, "bond0.5", { kind: "vlan", lowerIndex: 7 }),
      ],
      route: 8,
    },
    {
      where: "on a bridge",
      links: [link(2, "eth0", { masterIndex: 7 }), link(7, "br0", { kind: "bridge" })],
      route: 7,
    },
    {
      where: "on a bridge of Open vSwitch",
      links: [
        link(2, "eth0", { masterIndex: 6 }),
        link(6, "ovs-system", { kind: "openvswitch" }),
        link(7, "br-ex", { kind: "openvswitch" }),
      ],
      route: 7,
    },
  ])("shows a default route $where", ({ links, route }) => {
    expect(useOf(links, [route])[0]).toBe("default route");
  });

  it("shows each route that the node needs, and of which interface the PF is a port", () => {
    const links = [link(2, "eth0", { masterIndex: 7 }), link(7, "bond0", { kind: "bond" })];
    const routes = [
      { text: "default route", links: [7] },
      { text: "route to the API server 192.0.2.1", links: [2] },
    ];
    expect(useOf(links, [], { routes })).toEqual([
      "default route",
      "route to the API server 192.0.2.1",
      "port of bond bond0",
    ]);
  });

  it("does not show the PF's own bridge, but the routes that use it", () => {
    const links = [link(2, "eth0", { masterIndex: 7 }), link(7, bridgeName, { kind: "bridge" })];
    const ownBridges = new Set([bridgeName]);
    expect(useOf(links, [3], { ownBridges })).toEqual([]);
    expect(useOf(links, [7], { ownBridges })).toEqual(["default route"]);
    expect(useOf(links, [3])).toEqual([`port of bridge ${bridgeName}`, `another program uses the name ${bridgeName}`]);
  });

  it("shows networks of the host's addresses on the PF or above it, and on its own bridge only those of the bridge", () => {
    const networks = [
      { text: "network 10.7.0.0/16", links: [2] },
      { text: "network 10.8.0.0/16", links: [7] },
    ];
    const other = [link(2, "eth0"), link(7, "eth1")];
    expect(useOf(other, [], { networks })).toEqual(["network 10.7.0.0/16"]);
    const vlan = [link(2, "eth0"), link(7, "eth0.5", { kind: "vlan", lowerIndex: 2 })];
    expect(useOf(vlan, [], { networks })).toEqual(["network 10.7.0.0/16", "network 10.8.0.0/16"]);
    const attached = [link(2, "eth0", { masterIndex: 7 }), link(7, bridgeName, { kind: "bridge" })];
    expect(useOf(attached, [], { networks, ownBridges: new Set([bridgeName]) })).toEqual(["network 10.8.0.0/16"]);
  });

  it("does not show an own bridge of Open vSwitch", () => {
    const links = [
      link(2, "eth0", { masterIndex: 6 }),
      link(6, "ovs-system", { kind: "openvswitch" }),
      link(7, bridgeName, { kind: "openvswitch" }),
    ];
    expect(useOf(links, [], { ownBridges: new Set([bridgeName]) })).toEqual([]);
    expect(useOf(links, [])).toHaveLength(2);
  });

  it("ends with interfaces that are below each other, as both ends of a veth are", () => {
    const links = [link(4, "a", { kind: "veth", lowerIndex: 5 }), link(5, "b", { kind: "veth", lowerIndex: 4 })];
    expect(useOf([link(2, "eth0"), ...links], [4])).toEqual([]);
  });

  it("is empty while the interface of the PF is absent", () => {
    expect(useOf([], [2])).toEqual([]);
  });
});
