// SPDX-License-Identifier: Apache-2.0
/** These tests use the kernel of this machine in a separate network namespace and compare results with iproute2. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { listLinks } from "./list-links.ts";
import { setLinkMtu, setLinkUp, setVfAddress } from "./set-link.ts";

const missing = missingForNamespaces();

/** Fields of `ip -json -details link show`. */
interface IpLink {
  readonly ifindex: number;
  readonly ifname: string;
  readonly altnames?: readonly string[];
  readonly flags: readonly string[];
  readonly mtu: number;
  readonly max_mtu: number;
  readonly address: string;
  readonly link_type: string;
  readonly linkinfo?: { readonly info_kind?: string };
  /** Name of the other end of a veth. */
  readonly link?: string;
}

(missing === undefined ? describe : describe.skip)(`rtnetlink on the real kernel`, () => {
  let namespace: NetworkNamespace;
  let socket: NetlinkSocket;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    socket = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await namespace.run("sh", "-c", "ip link del v0 2>&-; ip link add v0 type veth peer name v1");
  });

  async function listByIp(where: NetworkNamespace): Promise<readonly IpLink[]> {
    return JSON.parse(await where.run("ip", "-json", "-details", "link", "show")) as readonly IpLink[];
  }

  async function find(name: string) {
    const found = (await listLinks(socket)).find((link) => link.name === name);
    if (found === undefined) throw new Error(`no link ${name}`);
    return found;
  }

  it("lists the same links as iproute2", async () => {
    await namespace.run("ip", "link", "property", "add", "dev", "v0", "altname", "a-name-longer-than-ifnamsiz");
    await namespace.run("ip", "link", "property", "add", "dev", "v0", "altname", "another");
    await namespace.run("ip", "link", "set", "v1", "up", "promisc", "on");
    const hardwareTypes = new Map([
      ["ether", 1],
      ["loopback", 772],
    ]);
    const all = await listByIp(namespace);
    const expected = all.map((link) => ({
      index: link.ifindex,
      name: link.ifname,
      altNames: link.altnames ?? [],
      hardwareType: hardwareTypes.get(link.link_type),
      address: link.address,
      adminUp: link.flags.includes("UP"),
      promiscuous: link.flags.includes("PROMISC"),
      mtu: link.mtu,
      ...(link.max_mtu !== 0 && { maxMtu: link.max_mtu }),
      ...(link.linkinfo?.info_kind !== undefined && { kind: link.linkinfo.info_kind }),
      ...(link.link !== undefined && { lowerIndex: all.find(({ ifname }) => ifname === link.link)?.ifindex }),
      hasXdp: false,
      vfs: [],
    }));
    expect(expected.map(({ name }) => name)).toEqual(expect.arrayContaining(["lo", "v0", "v1"]));
    expect(await listLinks(socket)).toEqual(expected.sort((a, b) => a.index - b.index));
  });

  it("lists more interfaces than fit into one datagram of a dump (32 KiB)", async () => {
    await using crowded = await createNetworkNamespace();
    await crowded.run("sh", "-c", 'for i in $(seq 40); do echo "link add many$i type veth"; done | ip -batch -');
    await using there = new NetlinkSocket({ protocol: protocols.route, netns: crowded.path });
    const listed = (await listLinks(there)).map(({ name }) => name);
    expect(listed).toEqual((await listByIp(crowded)).map(({ ifname }) => ifname));
    expect(listed.length).toBeGreaterThan(80);
  });

  it("sets the MTU by name or alternative name", async () => {
    await namespace.run("ip", "link", "property", "add", "dev", "v0", "altname", "a-name-longer-than-ifnamsiz");
    await setLinkMtu(socket, "v0", 9000);
    await expect(find("v0")).resolves.toMatchObject({ mtu: 9000 });
    await setLinkMtu(socket, "a-name-longer-than-ifnamsiz", 1400);
    await expect(find("v0")).resolves.toMatchObject({ mtu: 1400, name: "v0" });
  });

  it("sets an interface up and down", async () => {
    await setLinkUp(socket, "v0", true);
    await expect(find("v0")).resolves.toMatchObject({ adminUp: true });
    await setLinkUp(socket, "v0", false);
    await expect(find("v0")).resolves.toMatchObject({ adminUp: false });
  });

  it("rejects with the kernel's message", async () => {
    await expect(setLinkMtu(socket, "v0", 100_000)).rejects.toMatchObject({
      code: "EINVAL",
      words: "mtu greater than device maximum",
      message: "set mtu 100000 on v0: EINVAL (mtu greater than device maximum)",
    });
    await expect(setLinkMtu(socket, "v0", 4)).rejects.toMatchObject({ words: "mtu less than device minimum" });
  });

  it.each(["none", "", "a-name-longer-than-ifnamsiz"])(
    "rejects with ENODEV for an interface '%s' that is not there",
    async (name) => {
      await expect(setLinkMtu(socket, name, 1500)).rejects.toMatchObject({ code: "ENODEV" });
      await expect(setLinkUp(socket, name, true)).rejects.toMatchObject({ code: "ENODEV" });
    },
  );

  it("rejects with EOPNOTSUPP if the interface has no VFs", async () => {
    const vf = { vfId: 0, address: "02:00:00:00:00:01" };
    await expect(setVfAddress(socket, "v0", vf)).rejects.toMatchObject({ code: "EOPNOTSUPP" });
  });

  it("lists only the interfaces of its namespace", async () => {
    await using here = new NetlinkSocket({ protocol: protocols.route });
    expect((await listLinks(here)).map(({ name }) => name)).not.toContain("v1");
  });

  it("throws for a path that is not a network namespace", () => {
    const open = (netns: string) => () => new NetlinkSocket({ protocol: protocols.route, netns });
    expect(open("/run/netns/none")).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(open("/proc/self/ns/uts")).toThrow(expect.objectContaining({ code: "EINVAL" }));
  });
});
