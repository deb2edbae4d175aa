// SPDX-License-Identifier: Apache-2.0
/** The first tests use the kernel of this machine in a separate network namespace. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { getLink } from "./list-links.ts";
import { connectedNetworks, defaultGateways, defaultRouteLinks, routeLinks } from "./route.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("routes of the real kernel", () => {
  let namespace: NetworkNamespace;
  let socket: NetlinkSocket;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    socket = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
    const links = ["v0", "v1"].map(
      (name) => `ip link add ${name} type veth peer name ${name}p; ip link set ${name} up; ip link set ${name}p up`,
    );
    const addresses =
      "ip addr add 192.0.2.1/24 dev v0; ip addr add 198.51.100.1/24 dev v1; ip -6 addr add 2001:db8::1/64 dev v1 nodad";
    await namespace.run("sh", "-ec", [...links, addresses].join("; "));
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  const indexOf = async (name: string) => (await getLink(socket, name)).index;
  const ip = (command: string) => namespace.run("ip", ...command.split(" "));

  it("are empty without a default route", async () => {
    expect(await defaultRouteLinks(socket)).toEqual([]);
    expect(await routeLinks(socket, "203.0.113.9")).toEqual([]);
    expect(await routeLinks(socket, "2001:db8:1::9")).toEqual([]);
  });

  it("show the interfaces of default routes of both families, in all tables, and of all next hops", async () => {
    const [v0, v1] = [await indexOf("v0"), await indexOf("v1")];
    await ip("route add default via 192.0.2.2 dev v0");
    expect(await defaultRouteLinks(socket)).toEqual([v0]);
    await ip("-6 route add default via 2001:db8::2 dev v1");
    expect(await defaultRouteLinks(socket)).toEqual([v0, v1]);
    await ip("-6 route del default");
    await ip("route replace default nexthop via 192.0.2.2 dev v0 nexthop via 198.51.100.2 dev v1");
    expect(await defaultRouteLinks(socket)).toEqual([v0, v1]);
    expect(await routeLinks(socket, "203.0.113.9")).toEqual([v0, v1]);
    expect(await defaultGateways(socket)).toEqual([
      { address: "192.0.2.2", link: v0 },
      { address: "198.51.100.2", link: v1 },
    ]);
    await ip("route del default");
    await ip("route add default via inet6 fe80::7 dev v1");
    expect(await defaultGateways(socket)).toEqual([{ address: "fe80::7", link: v1 }]);
    await ip("route del default via inet6 fe80::7 dev v1");
    await ip("route add default via 198.51.100.2 dev v1 table 100");
    expect(await defaultRouteLinks(socket)).toEqual([v1]);
    await ip("route del default table 100");
  });

  it("show the interface of the most specific route to an address", async () => {
    const [v0, v1] = [await indexOf("v0"), await indexOf("v1")];
    await ip("route add 203.0.113.0/24 via 192.0.2.2 dev v0");
    await ip("route add 203.0.113.9/32 via 198.51.100.2 dev v1");
    expect(await routeLinks(socket, "203.0.113.8")).toEqual([v0]);
    expect(await routeLinks(socket, "203.0.113.9")).toEqual([v1]);
    expect(await routeLinks(socket, "2001:db8::7")).toEqual([v1]);
    await ip("route add blackhole 203.0.113.10/32");
    expect(await routeLinks(socket, "203.0.113.10")).toEqual([]);
  });

  it("show the networks in which the host has an address, and no others", async () => {
    await ip("addr add 10.7.0.1/16 dev v0p");
    await ip("route add 203.0.113.128/25 via 192.0.2.2 dev v0");
    const [v0, v1, peer] = [await indexOf("v0"), await indexOf("v1"), await indexOf("v0p")];
    const found = new Map((await connectedNetworks(socket)).map(({ network, links }) => [network, links]));
    expect(found).toEqual(
      new Map([
        ["192.0.2.0/24", [v0]],
        ["198.51.100.0/24", [v1]],
        ["10.7.0.0/16", [peer]],
        ["2001:db8::/64", [v1]],
      ]),
    );
    await ip("addr del 10.7.0.1/16 dev v0p");
    await ip("route del 203.0.113.128/25");
  });

  it("do not exist for text that is no address, and for interfaces that do not exist", async () => {
    for (const text of ["", "example", "192.0.2", "fe80::1%v0"]) {
      await expect(routeLinks(socket, text)).rejects.toMatchObject({ code: "EINVAL" });
    }
    await expect(getLink(socket, "absent")).rejects.toMatchObject({ code: "ENODEV" });
  });
});

describe("routeLinks", () => {
  it.each([
    { address: "192.0.2.255", sent: "c00002ff" },
    { address: "::", sent: "0".repeat(32) },
    { address: "::1", sent: `${"0".repeat(31)}1` },
    { address: "2001:db8::", sent: `20010db8${"0".repeat(24)}` },
    { address: "2001:db8:0:1:2:3:4:5", sent: "20010db8000000010002000300040005" },
    { address: "2001:DB8::a:b", sent: "20010db80000000000000000000a000b" },
    { address: "::ffff:192.0.2.1", sent: "00000000000000000000ffffc0000201" },
  ])("asks for $address", async ({ address, sent }) => {
    const kernel = createFakeKernel((request) => [ack(request)]);
    await routeLinks(new NetlinkSocket({ protocol: protocols.route, libc: kernel }), address);
    expect(kernel.requests[0]?.payload.subarray(16).toString("hex")).toBe(sent);
  });

  it("takes any bytes: indexes, or NetlinkError", async () => {
    const junk = fc.array(fc.uint8Array({ maxLength: 80 }));
    await fc.assert(
      fc.asyncProperty(junk, async (payloads) => {
        const kernel = createFakeKernel((request) => [
          ...payloads.map((payload) => reply(request, 24, Buffer.from(payload))),
          done(request),
        ]);
        const socket = new NetlinkSocket({ protocol: protocols.route, libc: kernel });
        const asks = [defaultRouteLinks, defaultGateways, connectedNetworks].map((ask) => () => ask(socket));
        for (const ask of [...asks, () => routeLinks(socket, "192.0.2.1")]) {
          const result: unknown = await ask().catch((error: unknown) => error);
          expect(result instanceof NetlinkError || Array.isArray(result)).toBe(true);
        }
      }),
    );
  });
});
