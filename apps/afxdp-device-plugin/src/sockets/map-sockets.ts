// SPDX-License-Identifier: Apache-2.0
/**
 * createMapSockets serves one Unix socket for each device, over which pods get the XSK map of the device. The process at the other end
 * cannot be compared with the pod that it names: the kernel hides processes of another PID namespace (SO_PEERCRED has the pid 0).
 * Therefore each allocation of a device has a directory of its own. A container that still runs after its pod has lost the device has
 * mounted the directory of the earlier allocation, in which there is no socket any more.
 */
import { chmod, chown, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listenSeqpackets, loadSeqpacketSystem, type SeqpacketServer } from "@switchyard/netlink";
import { makeDirectory, type Logger } from "@switchyard/service";
import type { PodDevices, ReadOptions } from "@switchyard/kubelet";
import { devicesOfCaller } from "../kubelet/read-pod-devices.ts";
import { mapName, socketDirectory, socketName } from "../pools/container-allocation.ts";
import { hasDevice, type DeviceId } from "../pools/device.ts";
import { resourceOf, type NodePool } from "../pools/node-pools.ts";
import { createMapSession, messageBytes, type MapSessionOptions, type SessionResult } from "./map-session.ts";

export interface MapSocketsOptions {
  /** Has a directory for each device. */
  readonly directory: string;
  /** Answers are shared for a moment, because a pod can connect without end, unless `isFresh` is set. */
  readonly podDevices: (options?: ReadOptions) => Promise<readonly PodDevices[]>;
  readonly openMap: MapSessionOptions["openMap"];
  readonly log: Logger;
  /** Called at the end of each connection. */
  readonly ended: (pool: string, result: SessionResult | "too-many") => void;
}

/** Its functions are called one after the other. */
export interface MapSockets extends Disposable {
  /**
   * Serves the sockets of these devices and no others. Sockets that do not change keep their connections. One whose file somebody
   * has removed or replaced is made again.
   */
  set(sockets: readonly MapSocket[]): Promise<void>;
  /** Replaces the directory and the socket of a device, if it has one, and ends its connections. To be called for each allocation. */
  renew(device: string): Promise<void>;
}

/** The socket of one device. */
export interface MapSocket extends DeviceId {
  readonly pool: Pick<NodePool, "name" | "uid" | "idleTimeoutMs" | "hasPinnedMap">;
}

/** The containers of one pod use a device. */
const maxConnections = 32;

export function createMapSockets(options: MapSocketsOptions): MapSockets {
  const { directory, log } = options;
  const open = new Map<string, { readonly settings: string; readonly server: SeqpacketServer }>();
  let present: readonly MapSocket[] = [];

  async function serve({ id, name: device, pool }: MapSocket): Promise<SeqpacketServer> {
    const own = socketDirectory({ sockets: directory }, device);
    // Users of the host, who can have the user id of a pool, must not reach the sockets. Containers mount the directory of a device.
    await makeDirectory(dirname(directory));
    await makeDirectory(directory, 0o700);
    await chmod(directory, 0o700);
    await makeDirectory(own);
    await chmod(own, 0o711); // users in pods may not list or change it
    if (pool.hasPinnedMap) await writeFile(join(own, mapName), ""); // where the container runtime mounts the map
    const path = join(own, socketName);
    const server = listenSeqpackets({
      path,
      maxConnections,
      messageBytes,
      refused() {
        options.ended(pool.name, "too-many");
      },
      connected: (connection) =>
        createMapSession(connection, {
          device,
          openMap: options.openMap,
          setBusyPoll,
          idleTimeoutMs: pool.idleTimeoutMs,
          async verify(podName) {
            const resourceName = resourceOf(pool);
            const said = { podName, device: { id, name: device }, resourceName };
            // A pod that has just started may not be in a shared answer.
            const caller =
              devicesOfCaller(await options.podDevices(), said) ??
              devicesOfCaller(await options.podDevices({ isFresh: true }), said);
            if (caller === undefined) log.warn({ device, podName }, "pod does not have the device; connection refused");
            else log.info({ device, pod: `${caller.namespace}/${caller.name}` }, "pod connected");
            if (caller === undefined) return undefined;
            const held = new Set(caller.devices);
            const isHeld = (one: MapSocket): boolean => resourceOf(one.pool) === resourceName && hasDevice(held, one);
            return present.filter(isHeld).map(({ name }) => name);
          },
          ended(result, error) {
            if (error !== undefined) log.warn({ device, error }, "map not passed to pod");
            options.ended(pool.name, result);
          },
        }),
    });
    await chmod(path, 0o660);
    await chown(path, pool.uid, 0);
    return server;
  }

  async function serveAll(sockets: readonly MapSocket[]): Promise<void> {
    present = sockets;
    const wanted = new Map(sockets.map((one) => [one.name, { ...one, settings: JSON.stringify([one.id, one.pool]) }]));
    for (const [device, { settings, server }] of open) {
      if (wanted.get(device)?.settings === settings && server.isReachable()) continue;
      server[Symbol.dispose]();
      open.delete(device);
      if (!wanted.has(device)) await removeDirectory(device);
    }
    for (const [device, socket] of wanted) {
      if (!open.has(device)) open.set(device, { settings: socket.settings, server: await serve(socket) });
    }
  }

  function removeDirectory(device: string): Promise<void> {
    return rm(socketDirectory({ sockets: directory }, device), { recursive: true, force: true });
  }

  return {
    set: serveAll,
    async renew(device) {
      const served = open.get(device);
      if (served === undefined) return;
      served.server[Symbol.dispose]();
      open.delete(device);
      await removeDirectory(device);
      await serveAll(present);
    },
    [Symbol.dispose]() {
      for (const { server } of open.values()) server[Symbol.dispose]();
      open.clear();
    },
  };
}

// asm-generic/socket.h
const solSocket = 1;
const [busyPoll, preferBusyPoll, busyPollBudget] = [46, 69, 70];

/** Changes nothing but the options of the socket. The kernel refuses what is no socket. */
function setBusyPoll(fd: number, { timeoutUs, packets }: { timeoutUs: number; packets: number }): boolean {
  const values: readonly (readonly [number, number])[] = [
    [preferBusyPoll, 1],
    [busyPoll, timeoutUs],
    [busyPollBudget, packets],
  ];
  const system = loadSeqpacketSystem();
  return values.every(([option, value]) => system.setOption(fd, solSocket, option, value) === 0);
}
