// SPDX-License-Identifier: Apache-2.0
/** The tests use the kernel of this machine in two network namespaces, the second of which is the gateway. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { setTimeout as delay } from "node:timers/promises";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { getLink } from "./list-links.ts";
import { askNeighbour, readNeighbour, type Neighbour } from "./neighbour.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("neighbours of the real kernel", () => {
  let host: NetworkNamespace;
  let gateway: NetworkNamespace;
  let socket: NetlinkSocket;
  let link = 0;

  beforeAll(async () => {
    [host, gateway] = [await createNetworkNamespace(), await createNetworkNamespace()];
    socket = new NetlinkSocket({ protocol: protocols.route, netns: host.path });
    const pid = /\d+/.exec(gateway.path)?.[0] ?? "";
    await host.run("sh", "-ec", `ip link add v0 type veth peer name v1 netns ${pid}; ip link set v0 up`);
    await host.run("sh", "-ec", "ip addr add 192.0.2.1/24 dev v0; ip -6 addr add 2001:db8::1/64 dev v0 nodad");
    // The kernel asks three times before it gives up, by default once a second.
    await host.run("sh", "-ec", "for f in ipv4 ipv6; do sysctl -qw net.$f.neigh.v0.retrans_time_ms=50; done");
    const addresses = "ip addr add 192.0.2.254/24 dev v1; ip -6 addr add 2001:db8::fe/64 dev v1 nodad";
    await gateway.run("sh", "-ec", `ip link set v1 up; ${addresses}`);
    link = (await getLink(socket, "v0")).index;
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    for (const namespace of [host, gateway]) await namespace[Symbol.asyncDispose]();
  });

  async function askAndWait(neighbour: Neighbour): Promise<string> {
    await askNeighbour(socket, neighbour);
    for (;;) {
      const state = await readNeighbour(socket, neighbour);
      if (state !== "asking") return state;
      await delay(20);
    }
  }

  /** An interface that is new does not answer at once. */
  async function answers(neighbour: Neighbour): Promise<void> {
    while ((await askAndWait(neighbour)) !== "reachable") await delay(20);
  }

  it.each(["192.0.2.254", "2001:db8::fe"])(
    "answer while they are on the link, and fail when they have left: %s",
    async (address) => {
      expect(await readNeighbour(socket, { link, address })).toBe("unknown");
      await answers({ link, address });
      expect(await askAndWait({ link, address })).toBe("reachable");
      await gateway.run("sh", "-ec", "ip addr flush dev v1; sysctl -qw net.ipv6.conf.v1.disable_ipv6=1");
      expect(await askAndWait({ link, address })).toBe("failed");
      const again = "ip addr add 192.0.2.254/24 dev v1; ip -6 addr add 2001:db8::fe/64 dev v1 nodad";
      await gateway.run("sh", "-ec", `sysctl -qw net.ipv6.conf.v1.disable_ipv6=0; ${again}`);
      await answers({ link, address });
    },
  );

  it("that never answered fail", async () => {
    expect(await askAndWait({ link, address: "192.0.2.77" })).toBe("failed");
  });

  it("of an administrator stay as they are", async () => {
    await host.run("ip", "neigh", "add", "192.0.2.9", "lladdr", "02:00:00:00:00:09", "dev", "v0", "nud", "permanent");
    expect(await askAndWait({ link, address: "192.0.2.9" })).toBe("fixed");
    expect(await host.run("ip", "neigh", "show", "192.0.2.9", "dev", "v0")).toContain("PERMANENT");
  });

  it("need an interface and an address", async () => {
    await expect(askNeighbour(socket, { link: 4711, address: "192.0.2.254" })).rejects.toMatchObject({
      code: "ENODEV",
    });
    await expect(readNeighbour(socket, { link, address: "gateway" })).rejects.toMatchObject({ code: "EINVAL" });
  });
});

describe("readNeighbour", () => {
  it("takes any bytes: a state, or NetlinkError", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 })), async (payloads) => {
        const kernel = createFakeKernel((request) => [
          ...payloads.map((payload) => reply(request, 28, Buffer.from(payload))),
          done(request),
        ]);
        const socket = new NetlinkSocket({ protocol: protocols.route, libc: kernel });
        const result: unknown = await readNeighbour(socket, { link: 2, address: "192.0.2.1" }).catch(
          (error: unknown) => error,
        );
        expect(typeof result === "string" || result instanceof NetlinkError).toBe(true);
      }),
    );
  });
});
