// SPDX-License-Identifier: Apache-2.0
/** These tests use the kernel of this machine. The judges are an AF_XDP socket and iproute2. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { loadBpfSystem } from "../bpf/bpf-system.ts";
import { loadProgram, loadRedirectProgram, openXdpProgram } from "../bpf/xdp-program.ts";
import { createXskMap, openPinnedXskMap, openXskMap, pinXskMap, unpinXskMap } from "../bpf/xsk-map.ts";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { loadForeignXdpProgram, openXdpSocket } from "../testing/xdp-socket.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { getLink } from "./list-links.ts";
import { attachXdp, detachXdp, readXdp } from "./xdp.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("XDP on the real kernel", () => {
  let namespace: NetworkNamespace;
  let socket: NetlinkSocket;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    socket = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
    await namespace.run("mount", "-t", "bpf", "bpf", "/mnt");
  });
  afterAll(async () => {
    await socket[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await namespace.run("sh", "-c", "ip link del v0 2>&-; ip link add v0 type veth peer name v1");
    await namespace.run("sh", "-c", "ip link set v0 up; ip link set v1 up");
  });

  it.each(["native", "generic"] as const)(
    "gives packets to an AF_XDP socket in %s mode",
    async (mode) => {
      using map = createXskMap({ queues: 1 });
      using program = loadRedirectProgram(map);
      await attachXdp(socket, "v0", { program, mode });
      const { index } = await getLink(socket, "v0");
      using xsk = openXdpSocket({ ifindex: index, queue: 0, netns: namespace.path });
      xsk.addTo(map.fd);
      await namespace.run("ip", "address", "add", "192.0.2.1/24", "dev", "v1");
      await namespace.run("ip", "neigh", "add", "192.0.2.77", "lladdr", "02:00:00:00:00:77", "dev", "v1");
      await namespace.run("bash", "-c", "printf 'hello, socket' >/dev/udp/192.0.2.77/9");
      const packets: Buffer[] = [];
      while (!packets.some((packet) => packet.includes("hello, socket"))) {
        packets.push(...xsk.receive()); // also those by which the kernel announces the interface
        await delay(10);
      }
    },
    60_000,
  );

  it("reads what ip(8) reads, and describes the program and its map", async () => {
    await expect(readXdp(socket, "v0")).resolves.toEqual([]);
    expect(await getLink(socket, "v0")).toMatchObject({ hasXdp: false });
    using map = createXskMap({ queues: 7 });
    using program = loadRedirectProgram(map);
    await attachXdp(socket, "v0", { program, mode: "native" });
    expect(await getLink(socket, "v0")).toMatchObject({ hasXdp: true });
    await expect(readXdp(socket, "v0")).resolves.toEqual([{ mode: "native", programId: program.id }]);
    const [shown] = JSON.parse(await namespace.run("ip", "-json", "-details", "link", "show", "v0")) as unknown[];
    expect(shown).toMatchObject({ xdp: { mode: 1, prog: { id: program.id, name: "switchyard_xsk" } } });
    using opened = openXdpProgram(program.id);
    expect(opened).toMatchObject({ id: program.id, name: "switchyard_xsk", mapIds: [map.id] });
    using openedMap = openXskMap(map.id);
    expect(openedMap).toMatchObject({ id: map.id, name: "xsks_map", queues: 7 });
  });

  it("keeps the program and its map after both are closed, until the program is detached", async () => {
    const map = createXskMap({ queues: 1 });
    const program = loadRedirectProgram(map);
    await attachXdp(socket, "v0", { program, mode: "native" });
    program[Symbol.dispose]();
    map[Symbol.dispose]();
    map[Symbol.dispose](); // a second time closes no descriptor of somebody else
    {
      using again = openXdpProgram(program.id);
      await detachXdp(socket, "v0", { program: again, mode: "native" });
    }
    await expect(readXdp(socket, "v0")).resolves.toEqual([]);
    while (isThere(() => openXskMap(map.id))) await delay(10); // the kernel frees maps after a grace period
  }, 60_000);

  it.each(["native", "generic"] as const)("replaces and removes no foreign program in %s mode", async (mode) => {
    using foreign = loadForeignXdpProgram("xdp_dispatcher");
    await attachXdp(socket, "v0", { program: foreign, mode });
    const before = await readXdp(socket, "v0");
    using map = createXskMap({ queues: 1 });
    using program = loadRedirectProgram(map);
    await expect(attachXdp(socket, "v0", { program, mode })).rejects.toMatchObject({
      message: `attach XDP program ${program.id} in ${mode} mode to v0: EBUSY (XDP program already attached)`,
    });
    const other = mode === "native" ? "generic" : "native";
    await expect(attachXdp(socket, "v0", { program, mode: other })).rejects.toMatchObject({
      code: "EEXIST",
      words: "Native and generic XDP can't be active at the same time",
    });
    await expect(detachXdp(socket, "v0", { program, mode })).rejects.toMatchObject({ code: "EEXIST" });
    await expect(readXdp(socket, "v0")).resolves.toEqual(before);
  });

  it("has EOPNOTSUPP for a driver without native mode, and ENODEV for no interface", async () => {
    using map = createXskMap({ queues: 1 });
    using program = loadRedirectProgram(map);
    await expect(attachXdp(socket, "lo", { program, mode: "native" })).rejects.toMatchObject({
      code: "EOPNOTSUPP",
      words: "Underlying driver does not support XDP in native mode",
    });
    await attachXdp(socket, "lo", { program, mode: "generic" });
    await expect(readXdp(socket, "lo")).resolves.toEqual([{ mode: "generic", programId: program.id }]);
    await detachXdp(socket, "lo", { program, mode: "generic" });
    await expect(attachXdp(socket, "none", { program, mode: "native" })).rejects.toMatchObject({ code: "ENODEV" });
    await expect(readXdp(socket, "none")).rejects.toMatchObject({ code: "ENODEV" });
  });

  it("has the end of the verifier's log in the error for a program that is refused", () => {
    const instructions = Buffer.from("9500000000000000", "hex"); // exit without a result
    const load = () => loadProgram(loadBpfSystem(), { instructions, name: "bad" });
    expect(load).toThrow(expect.objectContaining({ code: "EACCES", words: expect.stringContaining("R0 !read_ok") }));
  });

  it("pins a map for a user, opens it again and removes it", async () => {
    const path = `${namespace.root}/mnt/xsks_map`;
    const created = createXskMap({ queues: 3 });
    pinXskMap(created, path, { uid: 1500 });
    created[Symbol.dispose]();
    expect(await stat(path)).toMatchObject({ uid: 1500, gid: 0, mode: 0o100600 });
    using again = openPinnedXskMap(path);
    expect(again).toMatchObject({ id: created.id, queues: 3, name: "xsks_map" });
    expect(() => {
      pinXskMap(again, path);
    }).toThrow(expect.objectContaining({ code: "EEXIST" }));
    unpinXskMap(path);
    unpinXskMap(path);
    expect(isThere(() => openPinnedXskMap(path))).toBe(false);
  });

  it("refuses to pin outside of a BPF file system, and to open what does not exist", () => {
    using map = createXskMap({ queues: 1 });
    expect(() => openXskMap(0x7fffffff)).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(() => openXdpProgram(0x7fffffff)).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(() => openPinnedXskMap(`${namespace.root}/mnt/none`)).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(() => {
      pinXskMap(map, `${namespace.root}/tmp/xsks_map`);
    }).toThrow(expect.objectContaining({ code: "EPERM" }));
  });

  function isThere(open: () => Disposable): boolean {
    try {
      using _opened = open();
      return true;
    } catch {
      return false;
    }
  }
});
