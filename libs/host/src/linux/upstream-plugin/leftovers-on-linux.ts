// SPDX-License-Identifier: Apache-2.0
/**
 * createLeftovers finds and removes what the plugins of upstream have left: XDP programs over rtnetlink, bpf(2) and sock_diag, BPF file
 * systems by their units of systemd, and sockets. linux-host.ts loads this file.
 */
import { upstreamDeviceDirectory } from "@switchyard/api";
import {
  detachXdp,
  getLink,
  listExtensions,
  listXdpSockets,
  NetlinkError,
  openXdpProgram,
  readXdp,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { createFileAges, isErrno } from "@switchyard/service";
import { promises as fs } from "node:fs";
import { dirname, join, relative } from "node:path";
import { HostError, withHostError } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { PluginLeftovers } from "../../ports/plugin-leftovers.ts";
import type { Systemd } from "../../ports/system-services.ts";
import type { Xdp } from "../../ports/xdp.ts";
import { parseAfxdpDevice } from "../records/afxdp-record-file.ts";
import { askKernel } from "../system/ask-kernel.ts";
import { createLinuxHostFiles } from "../system/linux-host-files.ts";
import { mountUnitName } from "../system/linux-systemd.ts";
import { runHostProgram } from "../system/run-program.ts";
import {
  isPluginPool,
  parsePluginMount,
  parsePluginSocket,
  pluginDirectories,
  upstreamDeviceRecords,
} from "./upstream-device-record.ts";
import { listPluginSockets, removeEmpty, removePluginSocket } from "./plugin-sockets.ts";

export interface LeftoverDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** A socket of protocol route. The caller disposes of it. */
  readonly socket: NetlinkSocket;
  /** Opens a socket of protocol sockDiag in the same network namespace. */
  readonly openDiagnosis: () => NetlinkSocket;
  readonly xdp: Pick<Xdp, "readPrograms">;
  readonly systemd: Pick<Systemd, "stopUnit">;
}

const unmountMs = 30_000;

export function createLeftovers({
  root,
  socket,
  openDiagnosis,
  xdp,
  systemd,
}: LeftoverDeps): Omit<PluginLeftovers, "listDevices"> {
  const { pluginLeftovers: at } = operations;
  const files = createLinuxHostFiles(root);
  const ageOf = createFileAges();
  /** Of the first process, whose mounts are those of the host. */
  const mountsOfHost = () => readMounts(join(root, "proc/1/mountinfo"));

  async function countSockets(name: string): Promise<number | { readonly unknown: string }> {
    const { index } = await getLink(socket, name);
    try {
      await using diagnosis = openDiagnosis();
      return (await listXdpSockets(diagnosis)).filter((each) => each.index === index).length;
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      const isMissing = error.code === "ENOENT";
      return { unknown: isMissing ? "it has no module xsk_diag, which lists them" : error.message };
    }
  }

  /** A container has copies of the mounts that existed when it started. They keep the directory in use, and the map. */
  async function unmountOwnCopy(path: string): Promise<void> {
    const isCopied = (await readMounts("/proc/self/mountinfo")).has(join(root, path));
    if (!isCopied || root === "/") return;
    const options = { root, at: at.removeMount(path), failureCode: "UMOUNT_FAILED", timeoutMs: unmountMs };
    await runHostProgram(options, ["umount", "--", path]);
  }

  return {
    removeDevice: (device) =>
      withHostError(at.removeDevice(device), async () => {
        if (parseAfxdpDevice(device) === undefined) throw new HostError(at.removeDevice(device), "EINVAL", {});
        await upstreamDeviceRecords(root).remove(device);
      }),
    readUse: (name) =>
      askKernel(at.readUse(name), async () => {
        const programs = await xdp.readPrograms(name);
        const extensions = programs.length === 0 ? [] : listExtensions();
        return {
          programs: programs.map((program) => {
            const own = extensions.filter(({ targetId }) => targetId === program.id);
            return { ...program, components: own.map(({ programId }) => nameOf(programId)) };
          }),
          sockets: await countSockets(name),
        };
      }),
    detachProgram: (name, id) =>
      askKernel(at.detachProgram(name, id), async () => {
        const attached = (await readXdp(socket, name)).find(({ programId }) => programId === id);
        if (attached === undefined) return;
        const { mode } = attached;
        if (mode === "offloaded") throw new HostError(at.detachProgram(name, id), "EOPNOTSUPP", {});
        using program = openXdpProgram(id);
        await detachXdp(socket, name, { program, mode });
      }),
    listFiles: (pool) =>
      withHostError(at.listFiles(pool), async () => {
        if (!isPluginPool(pool)) return { mounts: [], sockets: [] };
        const directory = `${pluginDirectories.mounts}/${pool}`;
        const paths = (await files.listNames(directory)).map((name) => `${directory}/${name}`);
        const ofPool = paths.filter((path) => parsePluginMount(path) === pool);
        const mounts = ofPool.length === 0 ? new Map<string, string>() : await mountsOfHost();
        const sockets = await listPluginSockets(pool, {
          directory: join(root, pluginDirectories.sockets),
          ageOf,
        });
        return {
          mounts: ofPool.filter((path) => (mounts.get(path) ?? "bpf") === "bpf"),
          sockets: sockets.map(({ path, isYoung }) => ({ path: `/${relative(root, path)}`, isYoung })),
        };
      }),
    removeMount: (path) =>
      withHostError(at.removeMount(path), async () => {
        const refuse = (code: string, words?: string) => new HostError(at.removeMount(path), code, { words });
        if (parsePluginMount(path) === undefined) throw refuse("EINVAL");
        const type = (await mountsOfHost()).get(path);
        if (type !== undefined && type !== "bpf")
          throw refuse("EINVAL", `a file system of type ${type} is mounted there`);
        if (type !== undefined) {
          await systemd.stopUnit(mountUnitName(path)); // as `umount`, in the mount namespace of the host
          if ((await mountsOfHost()).has(path)) throw refuse("EBUSY", "it is still mounted");
        }
        await unmountOwnCopy(path);
        try {
          await fs.rmdir(join(root, path));
        } catch (error) {
          if (!isErrno(error, "ENOENT")) throw error;
        }
        await removeEmpty(dirname(join(root, path)));
      }),
    removeSocket: (path) =>
      withHostError(at.removeSocket(path), async () => {
        if (parsePluginSocket(path) === undefined) throw new HostError(at.removeSocket(path), "EINVAL", {});
        await removePluginSocket(join(root, path));
      }),
    removeDirectories: () =>
      withHostError(at.removeDirectories(), async () => {
        for (const path of [...Object.values(pluginDirectories), upstreamDeviceDirectory])
          await removeEmpty(join(root, path));
      }),
  };
}

/** "" for a program without a name, and for one that has just gone. */
function nameOf(programId: number): string {
  try {
    using program = openXdpProgram(programId);
    return program.name;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return "";
    throw error;
  }
}

async function readMounts(file: string): Promise<ReadonlyMap<string, string>> {
  return parseMountInfo(await fs.readFile(file, "utf8"));
}

/**
 * parseMountInfo reads the mounts of a process (proc_pid_mountinfo(5)).
 * Returns the type of the file system of each mount point; of several mounts at one point, that of the last, which covers the others.
 * Mount points are as in the file, with octal escapes for white space. Lines that are not valid are left out.
 */
export function parseMountInfo(text: string): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    // id, parent, device, root, mount point, options, optional fields, "-", type, source, options
    const [before = "", after = ""] = line.split(" - ", 2);
    const point = before.split(" ")[4];
    const [type] = after.split(" ");
    if (point !== undefined && type) types.set(point, type);
  }
  return types;
}
