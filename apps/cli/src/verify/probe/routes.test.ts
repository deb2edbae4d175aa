// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { fragmentsIn, neighbourOf, routeInterface } from "./routes.ts";

// Recorded on Linux 6.12.
const route = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0100550A	0003	0	0	0	00000000	0	0	0
eth0	0000550A	00000000	0001	0	0	0	00FFFFFF	0	0	0
net1	004EA8C0	00000000	0001	0	0	0	00FFFFFF	0	0	0`;
const route6 = `fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     net1
fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     net1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo`;
const arp = `IP address       HW type     Flags       HW address            Mask     Device
192.168.78.2     0x1         0x2         22:c5:72:ed:b3:27     *        net1
192.168.78.9     0x1         0x0         00:00:00:00:00:00     *        net1`;

describe("routeInterface", () => {
  it.each([
    ["192.168.78.2", "net1"],
    ["192.168.79.2", "eth0"],
    ["10.85.0.7", "eth0"],
  ])("finds the most specific route to %s", (address, found) => {
    expect(routeInterface(route, address)).toBe(found);
  });

  it("finds IPv6 routes, and no route that refuses packets", () => {
    expect(routeInterface(route6, "fd00::2")).toBe("net1");
    expect(routeInterface(route6, "2001:db8::1")).toBeUndefined();
  });
});

describe("neighbourOf", () => {
  it("tells whether the neighbour has answered", () => {
    const on = (address: string, name = "net1") => neighbourOf(arp, { address, name });
    expect(on("192.168.78.2")).toEqual({ mac: "22:c5:72:ed:b3:27", isComplete: true });
    expect(on("192.168.78.9")?.isComplete).toBe(false);
    expect(on("192.168.78.2", "eth0")).toBeUndefined();
  });
});

describe("fragmentsIn", () => {
  it("adds fragments of IPv4 and IPv6", () => {
    const snmp = "Ip: Forwarding ReasmReqds ReasmOKs FragOKs FragCreates\nIp: 2 4 2 1 6\nIcmp: InMsgs\nIcmp: 9";
    expect(fragmentsIn(`${snmp}\nIp6InReceives 7\nIp6ReasmReqds 1\nIp6FragCreates 2\n`)).toBe(13);
    expect(fragmentsIn("")).toBe(0);
  });
});
