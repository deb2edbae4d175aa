// SPDX-License-Identifier: Apache-2.0
/**
 * Implements PluginLeftovers on the fake kernel: what the plugins of upstream leave, and AF_XDP sockets of programs on the host.
 * Records are formatted and parsed as files.
 */
import {
  formatUpstreamDevice,
  parsePluginMount,
  parsePluginSocket,
  parseUpstreamDevice,
} from "../linux/upstream-plugin/upstream-device-record.ts";
import { parseAfxdpDevice } from "../linux/records/afxdp-record-file.ts";
import type { PluginLeftovers, UpstreamDevice, XdpUse } from "../ports/plugin-leftovers.ts";
import type { FakeXdp } from "./fake-xdp.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakePluginLeftovers {
  readonly port: PluginLeftovers;
  readonly byHand: FakeLeftoversByHand;
  /** Forgets all but the files on the disk. */
  reboot(): void;
}

/** Actions of the plugin, and of programs on the host. */
export interface FakeLeftoversByHand {
  record(device: UpstreamDevice): void;
  /** Writes any text as the record of a device. */
  writeRecord(device: string, text: string): void;
  /** Sets the names of the programs that a dispatcher runs. */
  setComponents(programId: number, names: readonly string[]): void;
  /** Sets the number of AF_XDP sockets that are bound to an interface, or why the kernel does not know it. */
  setSockets(name: string, sockets: XdpUse["sockets"]): void;
  /** Mounts a BPF file system. */
  addMount(path: string): void;
  /** Adds a socket of a container, which is older than two minutes by default. */
  addSocket(path: string, options?: { readonly isYoung: boolean }): void;
  /** Returns the paths of all mounts, their directories and sockets, sorted. */
  listPaths(): readonly string[];
}

export function createFakePluginLeftovers(xdp: Pick<FakeXdp, "port" | "detach">): FakePluginLeftovers {
  const records = new Map<string, string>();
  const components = new Map<number, readonly string[]>();
  const sockets = new Map<string, XdpUse["sockets"]>();
  const mounts = new Set<string>();
  const files = new Map<string, boolean>();

  return {
    reboot() {
      components.clear();
      sockets.clear();
      mounts.clear();
    },
    byHand: {
      record: (device) => void records.set(device.device, formatUpstreamDevice(device)),
      writeRecord: (device, text) => void records.set(device, text),
      setComponents: (programId, names) => void components.set(programId, names),
      setSockets: (name, count) => void sockets.set(name, count),
      addMount: (path) => void mounts.add(path),
      addSocket: (path, { isYoung } = { isYoung: false }) => void files.set(path, isYoung),
      listPaths: () => [...mounts, ...files.keys()].sort(),
    },
    port: {
      listDevices: () =>
        answer(() =>
          [...records]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .flatMap(([device, text]) => {
              const record = parseUpstreamDevice(text);
              return record?.device === device ? [record] : [];
            }),
        ),
      removeDevice: (device) =>
        answer(() => {
          if (parseAfxdpDevice(device) === undefined) throw new Refusal("EINVAL");
          records.delete(device);
        }),
      async readUse(name) {
        const programs = await xdp.port.readPrograms(name);
        return {
          programs: programs.map((program) => ({ ...program, components: components.get(program.id) ?? [] })),
          sockets: sockets.get(name) ?? 0,
        };
      },
      detachProgram: (name, id) =>
        answer(() => {
          xdp.detach(name, id);
        }),
      listFiles: (pool) =>
        answer(() => ({
          mounts: [...mounts].filter((path) => parsePluginMount(path) === pool).sort(),
          sockets: [...files]
            .filter(([path]) => parsePluginSocket(path) === pool)
            .map(([path, isYoung]) => ({ path, isYoung })),
        })),
      removeMount: (path) =>
        answer(() => {
          if (parsePluginMount(path) === undefined) throw new Refusal("EINVAL");
          mounts.delete(path);
        }),
      removeSocket: (path) =>
        answer(() => {
          if (parsePluginSocket(path) === undefined) throw new Refusal("EINVAL");
          files.delete(path);
        }),
      removeDirectories: () => answer(() => undefined),
    },
  };
}
