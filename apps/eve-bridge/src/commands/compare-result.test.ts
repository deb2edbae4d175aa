// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { compareHostSide, compareResult } from "./compare-result.ts";
import type { PodLink, PodNetwork } from "../network/pod-network.ts";
import { parseResult } from "../request/result.ts";

const netns = "/var/run/netns/a";
const expected = parseResult({
  cniVersion: "1.1.0",
  interfaces: [
    { name: "bn1", mac: "02:16:3e:00:00:01" },
    { name: "net1", mac: "02:16:3E:5E:6C:01", sandbox: netns, mtu: 1500 },
  ],
  ips: [{ interface: 1, address: "10.0.0.5/24", gateway: "10.0.0.1" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "10.1.2.3/16" }],
});
const link: PodLink = {
  name: "net1",
  mac: "02:16:3e:5e:6c:01",
  mtu: 1500,
  master: "",
  addresses: ["10.0.0.5/24", "fe80::1/64"],
};
const good: PodNetwork = {
  links: [{ name: "lo", mac: "", mtu: 65536, master: "", addresses: [] }, link],
  routes: [
    { dst: "0.0.0.0/0", gateway: "10.0.0.1", dev: "net1" },
    { dst: "10.1.0.0/16", gateway: "", dev: "net1" },
  ],
};
const checked = { ifName: "net1", netns, isVirtualMachine: false };
const withLink = (change: Partial<PodLink>): PodNetwork => ({ ...good, links: [{ ...link, ...change }] });

describe("compareResult", () => {
  it("returns no difference after ADD", () => {
    expect(compareResult(expected, good, checked)).toEqual([]);
  });

  it.each([
    { seen: { ...good, links: [] }, says: ["the pod has no interface net1"] },
    {
      seen: withLink({ mac: "02:00:00:00:00:09" }),
      says: ["net1 has MAC 02:00:00:00:00:09, expected 02:16:3E:5E:6C:01"],
    },
    { seen: withLink({ mtu: 1400 }), says: ["net1 has MTU 1400, expected 1500"] },
    { seen: withLink({ addresses: [] }), says: ["net1 does not have address 10.0.0.5/24"] },
    { seen: withLink({ addresses: ["10.0.0.5/16"] }), says: ["net1 does not have address 10.0.0.5/24"] },
    { seen: { ...good, routes: good.routes.slice(1) }, says: ["no route to 0.0.0.0/0 via 10.0.0.1 through net1"] },
    { seen: { ...good, routes: good.routes.slice(0, 1) }, says: ["no route to 10.1.0.0/16 through net1"] },
    {
      seen: { ...good, routes: good.routes.map((route) => ({ ...route, dev: "eth0" })) },
      says: ["no route to 0.0.0.0/0 via 10.0.0.1 through net1", "no route to 10.1.0.0/16 through net1"],
    },
  ])("says $says", ({ seen, says }) => {
    expect(compareResult(expected, seen, checked)).toEqual(says);
  });

  it("accepts another MAC if KubeVirt gave the address of the interface to the guest", () => {
    const taken = withLink({ mac: "02:00:00:00:00:09", master: "k6t-net1" });
    expect(compareResult(expected, taken, { ...checked, isVirtualMachine: true })).toEqual([]);
    expect(compareResult(expected, taken, checked)).toHaveLength(1);
  });

  it("requires the interface of this pod in the result", () => {
    const elsewhere = { ...checked, netns: "/var/run/netns/b" };
    expect(compareResult(expected, good, elsewhere)).toEqual(["prevResult has no interface net1 in /var/run/netns/b"]);
  });
});

describe("compareHostSide", () => {
  const result = parseResult({
    cniVersion: "1.1.0",
    interfaces: [{ name: "bn1" }, { name: "nbu1x1" }, { name: "net1", sandbox: netns }],
  });
  const host = (name: string, master = ""): PodLink => ({ ...link, name, master });

  it.each([
    { links: [host("bn1"), host("nbu1x1", "bn1")], says: [] },
    { links: [host("bn1"), host("nbu1x1")], says: ["nbu1x1 of the host is attached to no bridge, expected bn1"] },
    { links: [host("bn1"), host("nbu1x1", "br0")], says: ["nbu1x1 of the host is attached to br0, expected bn1"] },
    { links: [host("bn1")], says: ["the host has no interface nbu1x1"] },
    {
      links: [host("nbu1x1")],
      says: ["the host has no interface bn1", "nbu1x1 of the host is attached to no bridge, expected bn1"],
    },
  ])("says $says", ({ links, says }) => {
    expect(compareHostSide(result, links)).toEqual(says);
  });

  it("says nothing about a result without interfaces of the host", () => {
    expect(compareHostSide(parseResult({ cniVersion: "1.1.0" }), [])).toEqual([]);
  });
});
