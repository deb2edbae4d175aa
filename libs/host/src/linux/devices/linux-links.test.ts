// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseMacAddress } from "@switchyard/api";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { createFakeKernel, createNetworkNamespace, missingForNamespaces } from "@switchyard/netlink/testing";
import type { Links } from "../../ports/links.ts";
import { createLinuxLinks } from "./linux-links.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("Links on the real kernel", () => {
  let namespace: Awaited<ReturnType<typeof createNetworkNamespace>>;
  let socket: NetlinkSocket;
  let links: Links;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    socket = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
    links = createLinuxLinks({ root: namespace.root, socket, genericSocket: socket });
    await namespace.run(
      "ip",
      "link",
      "add",
      "v0",
      "address",
      "02:00:00:00:00:01",
      "type",
      "veth",
      "peer",
      "name",
      "v1",
    );
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  async function find(name: string) {
    return (await links.listLinks()).find((link) => link.name === name);
  }

  it("lists interfaces with exactly the fields of the port", async () => {
    expect(await find("lo")).toEqual({
      index: 1,
      name: "lo",
      altNames: [],
      mac: "00:00:00:00:00:00",
      mtu: 65_536,
      adminUp: false,
      promiscuous: false,
      type: "other",
      hasXdp: false,
      vfs: [],
    });
    const index: unknown = expect.any(Number);
    expect(await find("v0")).toEqual({
      index,
      name: "v0",
      altNames: [],
      mac: "02:00:00:00:00:01",
      mtu: 1500,
      maxMtu: 65_535,
      adminUp: false,
      promiscuous: false,
      type: "ether",
      kind: "veth",
      lowerIndex: index,
      hasXdp: false,
      vfs: [],
    });
  });

  it("sets the MTU and the administrative state", async () => {
    await links.setMtu("v0", 9000);
    await links.setAdminUp("v0", true);
    expect(await find("v0")).toMatchObject({ mtu: 9000, adminUp: true });
    await links.setAdminUp("v0", false);
    expect(await find("v0")).toMatchObject({ adminUp: false });
  });

  it("names the operation, its target and the explanation of the kernel in an error", async () => {
    await expect(links.setMtu("v0", 100_000)).rejects.toMatchObject({
      name: "HostError",
      code: "EINVAL",
      words: "mtu greater than device maximum",
      message: "set mtu 100000 on v0: EINVAL (mtu greater than device maximum)",
    });
  });

  it("rejects with ENODEV for an interface that does not exist", async () => {
    await expect(links.setMtu("none", 1500)).rejects.toMatchObject({ name: "HostError", code: "ENODEV" });
    await expect(links.setAdminUp("none", true)).rejects.toMatchObject({ code: "ENODEV" });
    await expect(links.readSpeedMbps("none")).rejects.toMatchObject({ name: "HostError", code: "ENODEV" });
  });

  it("reports promiscuous mode that somebody has set", async () => {
    await namespace.run("ip", "link", "set", "v0", "promisc", "on");
    expect(await find("v0")).toMatchObject({ promiscuous: true });
    await namespace.run("ip", "link", "set", "v0", "promisc", "off");
    expect(await find("v0")).toMatchObject({ promiscuous: false });
  });

  it("rejects with EOPNOTSUPP for a VF setting if the device has no VFs", async () => {
    await expect(links.setVf("v0", 0, { vlan: 5, qos: 1, protocol: "802.1Q" })).rejects.toMatchObject({
      message: "set vf 0 vlan 5 qos 1 proto 802.1Q on v0: EOPNOTSUPP",
    });
  });

  it("rejects with EOPNOTSUPP for a VF address if the device has no VFs", async () => {
    const mac = parseMacAddress("02:00:00:00:00:02");
    if (!mac.ok) throw new Error("no MAC address");
    await expect(links.setVfMac("v0", 0, mac.value)).rejects.toMatchObject({
      message: "set vf 0 mac 02:00:00:00:00:02 on v0: EOPNOTSUPP",
    });
  });

  it("reads the speed of an interface that is up, and no speed of one that is down (EINVAL)", async () => {
    await links.setAdminUp("v0", true);
    await links.setAdminUp("v1", true);
    await expect(links.readSpeedMbps("v0")).resolves.toBe(10_000); // speed of veth
    await links.setAdminUp("v0", false);
    await expect(links.readSpeedMbps("v0")).resolves.toBeUndefined();
  });
});

describe("readSpeedMbps", () => {
  let root: string;
  let links: Links;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "sysfs-"));
    const socket = new NetlinkSocket({ protocol: protocols.route, libc: createFakeKernel() });
    links = createLinuxLinks({ root, socket, genericSocket: socket });
  });
  afterAll(() => rm(root, { recursive: true }));

  it.each([
    { says: "25000\n", mbps: 25_000 },
    { says: "-1\n", mbps: undefined },
    { says: "4294967295\n", mbps: undefined },
    { says: "0\n", mbps: undefined },
    { says: "", mbps: undefined },
  ])("is $mbps where the driver says '$says'", async ({ says, mbps }) => {
    await mkdir(join(root, "sys/class/net/eth0"), { recursive: true });
    await writeFile(join(root, "sys/class/net/eth0/speed"), says);
    await expect(links.readSpeedMbps("eth0")).resolves.toBe(mbps);
  });

  it("does not accept a path as a name", async () => {
    await writeFile(join(root, "speed"), "100\n");
    await expect(links.readSpeedMbps("../../../..")).rejects.toMatchObject({ code: "ENODEV" });
  });
});
