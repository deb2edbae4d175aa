// SPDX-License-Identifier: Apache-2.0
/** Programs and sockets are those of the kernel of this machine, in a network namespace. The mounts of the host are a file. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { upstreamDeviceDirectory } from "@switchyard/api";
import { attachXdp, getLink, NetlinkSocket, protocols } from "@switchyard/netlink";
import {
  createNetworkNamespace,
  loadForeignXdpProgram,
  missingForNamespaces,
  openXdpSocket,
} from "@switchyard/netlink/testing";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginLeftovers } from "../ports/plugin-leftovers.ts";
import { createLinuxPluginLeftovers } from "./linux-host.ts";
import { createLinuxXdp } from "./devices/linux-xdp.ts";
import { mountUnitName } from "./system/linux-systemd.ts";
import { recordUpstreamDevices } from "./upstream-plugin/upstream-device-record.ts";

const missing = missingForNamespaces();
const [first, second] = ["3f2b8a10-1111-4222-8333-0123456789ab", "4f2b8a10-1111-4222-8333-0123456789ab"];
const onUnreadable = () => undefined;

(missing === undefined ? describe : describe.skip)("PluginLeftovers on the real kernel", () => {
  let namespace: Awaited<ReturnType<typeof createNetworkNamespace>>;
  const sockets = new AsyncDisposableStack();
  let socket: NetlinkSocket;
  let leftovers: PluginLeftovers;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    const { path: netns, root } = namespace;
    socket = sockets.use(new NetlinkSocket({ protocol: protocols.route, netns }));
    const genericSocket = sockets.use(new NetlinkSocket({ protocol: protocols.generic, netns }));
    leftovers = createLinuxPluginLeftovers({
      root,
      socket,
      onUnreadable,
      systemd: { stopUnit: () => Promise.resolve() },
      xdp: createLinuxXdp({ root, socket, genericSocket }),
      openDiagnosis: () => new NetlinkSocket({ protocol: protocols.sockDiag, netns }),
    });
  });
  afterAll(async () => {
    await sockets.disposeAsync();
    await namespace[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await namespace.run("sh", "-c", "ip link del v0 2>&-; ip link add v0 type veth peer name v1; ip link set v0 up");
  });

  it("reads the programs of an interface and its AF_XDP sockets, or why the kernel does not know these", async () => {
    const unknown = { unknown: "it has no module xsk_diag, which lists them" };
    const before = await leftovers.readUse("v0");
    expect([0, unknown]).toContainEqual(before.sockets);
    using program = loadForeignXdpProgram("xsk_def_prog");
    await attachXdp(socket, "v0", { program, mode: "native" });
    const { index } = await getLink(socket, "v0");
    using _socket = openXdpSocket({ ifindex: index, queue: 0, netns: namespace.path });
    expect(await leftovers.readUse("v0")).toEqual({
      programs: [{ id: expect.any(Number), name: "xsk_def_prog", mode: "native", isOwn: false, components: [] }],
      sockets: before.sockets === 0 ? 1 : unknown,
    });
    expect((await leftovers.readUse("v1")).sockets).toEqual(before.sockets);
    await expect(leftovers.readUse("none")).rejects.toMatchObject({ code: "ENODEV" });
  });

  it.each(["native", "generic"] as const)(
    "detaches the program with the id, and no other, in %s mode",
    async (mode) => {
      using program = loadForeignXdpProgram("xsk_def_prog");
      await attachXdp(socket, "v0", { program, mode });
      const [{ id } = { id: 0 }] = (await leftovers.readUse("v0")).programs;
      await leftovers.detachProgram("v0", id + 1);
      expect((await leftovers.readUse("v0")).programs).toHaveLength(1);
      for (const _time of ["first", "second"]) await leftovers.detachProgram("v0", id);
      expect((await leftovers.readUse("v0")).programs).toEqual([]);
    },
  );
});

describe("PluginLeftovers", () => {
  let root: string;
  let stopped: string[];
  let refusal: Error | undefined;
  let leftovers: PluginLeftovers;
  const mountInfo = () => join(root, "proc/1/mountinfo");

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "switchyard-leftovers-"));
    stopped = [];
    refusal = undefined;
    await mkdir(join(root, "proc/1"), { recursive: true });
    await writeFile(mountInfo(), "");
    const socket = new NetlinkSocket({ protocol: protocols.route });
    leftovers = createLinuxPluginLeftovers({
      root,
      socket,
      onUnreadable,
      openDiagnosis: () => socket,
      xdp: { readPrograms: () => Promise.resolve([]) },
      systemd: {
        /** As systemd, it runs umount(8). */
        async stopUnit(name) {
          stopped.push(name);
          if (refusal) throw refusal;
          const lines = (await readFile(mountInfo(), "utf8")).split("\n");
          await writeFile(
            mountInfo(),
            lines.filter((line) => mountUnitName(line.split(" ")[4] ?? "") !== name).join("\n"),
          );
        },
      },
    });
    await socket[Symbol.asyncDispose]();
  });
  afterEach(() => rm(root, { recursive: true }));

  async function mount(path: string, type = "bpf"): Promise<void> {
    await mkdir(join(root, path), { recursive: true });
    await writeFile(mountInfo(), `36 35 0:33 / ${path} rw,relatime shared:1 - ${type} none rw\n`, { flag: "a" });
  }

  it("lists and removes records", async () => {
    expect(await leftovers.listDevices()).toEqual([]);
    await recordUpstreamDevices(root, [{ device: "ens1", name: "ens1", poolName: "fast" }], "boot-1");
    expect(await leftovers.listDevices()).toEqual([
      { device: "ens1", bootId: "boot-1", names: ["ens1"], pools: ["fast"] },
    ]);
    for (const _time of ["first", "second"]) await leftovers.removeDevice("ens1");
    expect(await leftovers.listDevices()).toEqual([]);
    await expect(leftovers.removeDevice("../x")).rejects.toMatchObject({ code: "EINVAL" });
    await leftovers.removeDirectories();
    await expect(readdir(join(root, upstreamDeviceDirectory))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("unmounts BPF file systems of a pool and removes their directories, also one whose mount is already gone", async () => {
    const paths = [`/run/afxdp_dp/fast/${first}`, `/run/afxdp_dp/fast/${second}`] as const;
    await mount(paths[0]);
    await mkdir(join(root, paths[1]));
    await mkdir(join(root, "run/afxdp_dp/fast/notes"));
    expect((await leftovers.listFiles("fast")).mounts).toEqual(paths);
    expect((await leftovers.listFiles("slow")).mounts).toEqual([]);
    expect((await leftovers.listFiles("../fast")).mounts).toEqual([]);
    for (const path of paths) await leftovers.removeMount(path);
    expect(stopped).toEqual([mountUnitName(paths[0])]);
    expect(await readdir(join(root, "run/afxdp_dp/fast"))).toEqual(["notes"]);
    await leftovers.removeMount(paths[0]); // again
    await rm(join(root, "run/afxdp_dp/fast/notes"), { recursive: true });
    await leftovers.removeMount(paths[0]);
    expect(await readdir(join(root, "run/afxdp_dp"))).toEqual([]);
  });

  it("leaves other file systems and other paths, and a directory with files", async () => {
    const path = `/run/afxdp_dp/fast/${first}`;
    await mount(path, "tmpfs");
    expect((await leftovers.listFiles("fast")).mounts).toEqual([]);
    await expect(leftovers.removeMount(path)).rejects.toMatchObject({
      message: `unmount and remove on ${path}: EINVAL (a file system of type tmpfs is mounted there)`,
    });
    for (const other of ["/run", "/run/afxdp_dp/fast", `${path}/..`, `/run/afxdp_dp/../../etc/${first}`])
      await expect(leftovers.removeMount(other)).rejects.toMatchObject({ code: "EINVAL" });
    await writeFile(mountInfo(), "");
    await writeFile(join(root, path, "file"), "");
    await expect(leftovers.removeMount(path)).rejects.toMatchObject({ code: "ENOTEMPTY" });
    expect(stopped).toEqual([]);
  });

  it("reports a mount that is in use, and leaves it", async () => {
    const path = `/run/afxdp_dp/fast/${first}`;
    await mount(path);
    refusal = new Error("JOB_FAILED");
    await expect(leftovers.removeMount(path)).rejects.toThrow("JOB_FAILED");
    expect((await leftovers.listFiles("fast")).mounts).toEqual([path]);
  });

  it("lists and removes sockets by their paths on the host", async () => {
    const [directory, path] = ["/tmp/afxdp_dp/afxdp_fast", `/tmp/afxdp_dp/afxdp_fast/${first}.sock`];
    await mkdir(join(root, directory), { recursive: true });
    await writeFile(join(root, directory, `${second}.sock`), ""); // no socket
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, path), resolve));
    expect((await leftovers.listFiles("fast")).sockets).toEqual([{ path, isYoung: true }]);
    await leftovers.removeSocket(path);
    server.close();
    await leftovers.removeSocket(path);
    expect(await readdir(join(root, directory))).toEqual([`${second}.sock`]);
    await expect(leftovers.removeSocket(`${directory}/../x.sock`)).rejects.toMatchObject({ code: "EINVAL" });
  });
});
