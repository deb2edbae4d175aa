// SPDX-License-Identifier: Apache-2.0
/** These tests use the kernel of this machine in a separate network namespace. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { resolveFamily, type GenericFamily } from "../generic-netlink.ts";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { listXdpFeatures, netdevFamily } from "../netdev/xdp-features.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { ethtoolFamily, getChannels, setChannels } from "./ethtool.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("queues on the real kernel", () => {
  let namespace: NetworkNamespace;
  let socket: NetlinkSocket;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    socket = new NetlinkSocket({ protocol: protocols.generic, netns: namespace.path });
    await namespace.run("ip", "link", "add", "v0", "numrxqueues", "4", "numtxqueues", "4", "type", "veth");
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  async function family(name: string): Promise<GenericFamily> {
    const found = await resolveFamily(socket, name);
    if (found === undefined) throw new Error(`this kernel has no netlink family ${name}`);
    return found;
  }

  it("reads and changes channels, and refuses more than the interface has", async () => {
    const ethtool = await family(ethtoolFamily);
    const { most } = await getChannels(ethtool, "v0");
    expect(most).toEqual({ receive: 4, send: 4, combined: 0 });
    for (const queues of [3, 1]) {
      await setChannels(ethtool, "v0", { receive: queues, send: queues });
      await expect(getChannels(ethtool, "v0")).resolves.toEqual({
        now: { receive: queues, send: queues, combined: 0 },
        most,
      });
    }
    await expect(setChannels(ethtool, "v0", { receive: 5 })).rejects.toMatchObject({
      message: "set channels of v0: EINVAL (requested channel count exceeds maximum)",
    });
    await expect(getChannels(ethtool, "none")).rejects.toMatchObject({ code: "ENODEV" });
    await expect(getChannels(ethtool, "lo")).rejects.toMatchObject({ code: "EOPNOTSUPP" });
  });

  it("reads what drivers support of XDP", async () => {
    const features = await listXdpFeatures(await family(netdevFamily));
    const lo = features.find(({ index }) => index === 1);
    expect(lo).toMatchObject({ index: 1, native: false, redirect: false, zeroCopy: false });
    const veth = features.find(({ index }) => index !== 1);
    expect(veth).toMatchObject({ native: true, redirect: true, zeroCopy: false });
  });
});
