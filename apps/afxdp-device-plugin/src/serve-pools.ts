// SPDX-License-Identifier: Apache-2.0
/**
 * createPoolServer serves the pools of the node to the kubelet and to pods, and releases devices that are in no pool any longer, and
 * at its end those that no pod has. The caller says which pools there are and when something may have changed; the rest is read from
 * the kernel and from the kubelet.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AfxdpBpfmanStatus, AfxdpLoadedProgram, AfxdpLoader } from "@switchyard/api";
import {
  createPodResources,
  watchSockets,
  type ContainerAllocation,
  type PluginDevice,
  type PodDevices,
} from "@switchyard/kubelet";
import { listLinks, NetlinkSocket, protocols } from "@switchyard/netlink";
import type { Logger } from "@switchyard/service";
import { releaseForBpfman, releasedPrograms } from "./bpfman-report.ts";
import { createDeviceUsers } from "./device-users.ts";
import { heldDevices } from "./kubelet/read-pod-devices.ts";
import { createBpfmanLoader } from "./loaders/bpfman-loader.ts";
import { createBuiltinLoader, type DeviceForPod, type DeviceLoader } from "./loaders/builtin-loader.ts";
import type { PluginMetrics } from "./plugin-metrics.ts";
import { containerAllocation, type DevicePaths } from "./pools/container-allocation.ts";
import { deviceHealth } from "./pools/device.ts";
import { needsProgram, resourceOf, type NodePool, type PoolDevice } from "./pools/node-pools.ts";
import { createPoolPlugins, type RunningPlugin } from "./pool-plugins.ts";
import { readRecord, writeRecord, type PluginRecord, type RetiredDevice } from "./record.ts";
import { createMapSockets } from "./sockets/map-sockets.ts";
import { createXdpDevices } from "./xdp-devices.ts";

export interface PoolServerOptions {
  readonly paths: DevicePaths & {
    /** /var/lib/kubelet. */
    readonly kubelet: string;
    /** File with the pools. */
    readonly record: string;
    /** File with the kernel parameter kernel.unprivileged_bpf_disabled. */
    readonly unprivilegedBpf: string;
  };
  /** Who loads the XDP programs. */
  readonly loader: AfxdpLoader;
  /** Path of the network namespace of the devices, if it is not the one of this process. */
  readonly netns?: string;
  /** A device is not released within this time after its allocation. */
  readonly settlingMs?: number;
  readonly metrics: PluginMetrics;
  readonly log: Logger;
}

/** The state of a pool after an update. */
export interface ServedPool {
  readonly name: string;
  readonly announced: number;
  readonly healthy: number;
  /** Why devices are not offered. */
  readonly problems: readonly string[];
}

export interface PoolServer extends AsyncDisposable {
  /** The pools that are served: at first those of the record. */
  pools(): readonly NodePool[];
  /** Sets the pools. Devices that are in none any longer are released by update() when no pod has them. */
  setPools(pools: readonly NodePool[]): Promise<void>;
  /** Calls the listener when something has changed that update() looks at. Returns the end of the subscription. */
  subscribe(listener: () => void): () => void;
  /** Sets the programs of bpfman, for the next update and for the pods that follow. */
  setPrograms(programs: readonly AfxdpLoadedProgram[]): void;
  /** Compares with the kernel and the kubelet, and acts. */
  update(signal: AbortSignal): Promise<PoolServerState>;
}

export interface PoolServerState {
  readonly pools: readonly ServedPool[];
  /** Report for the operator; undefined with loader builtin and without programs of bpfman. */
  readonly bpfman: Required<AfxdpBpfmanStatus> | undefined;
  /** Whether update() is to be called again soon. */
  readonly isUnfinished: boolean;
}

const defaultSettlingMs = 10_000;
/** The kubelet's answer at the end of the process. */
const endLimitMs = 3_000;

/** Serves the pools of the record, until it is disposed of. */
export async function createPoolServer(options: PoolServerOptions): Promise<PoolServer> {
  const { paths, log, metrics, netns, settlingMs = defaultSettlingMs } = options;
  const directory = join(paths.kubelet, "device-plugins");
  const podResources = createPodResources({ path: join(paths.kubelet, "pod-resources", "kubelet.sock") });
  let record: PluginRecord = await readRecord(paths.record);
  const end = new AbortController();
  const links = new NetlinkSocket({ protocol: protocols.route, netns });
  const xdp = createXdpDevices({ maps: paths.maps, ...(netns !== undefined && { netns }) });
  let programs: readonly AfxdpLoadedProgram[] = [];
  const isBpfman = options.loader === "bpfman";
  const inTurn = createTurns();
  const loader = isBpfman
    ? createBpfmanLoader({ xdp, socket: links, programs: () => programs })
    : createBuiltinLoader({ xdp, inTurn: inTurn.run });
  const users = createDeviceUsers({ podResources, settlingMs, log });
  const listeners = new Set<() => void>();
  const watch = watchSockets(directory);
  const sockets = createMapSockets({
    directory: paths.sockets,
    podDevices: async (options) => (await podResources.listPods(end.signal, options)).pods,
    openMap: xdp.openMap,
    log,
    ended(pool, result) {
      metrics.connections.inc({ pool, result });
    },
  });
  const plugins = createPoolPlugins({
    directory,
    watch,
    metrics,
    log,
    allocate: (pool, devices) => inTurn.run(() => allocate(pool, devices)),
    allocationFailed() {
      for (const listener of listeners) listener();
    },
  });

  async function allocate(name: string, devices: readonly string[]): Promise<ContainerAllocation> {
    const pool = record.pools.find((one) => one.name === name);
    if (pool === undefined) throw new Error(`pool ${name} is not offered any longer`);
    const names: string[] = [];
    for (const id of devices) {
      const device = pool.devices.find((one) => one.id === id);
      if (device === undefined) throw new Error(`device ${id} is not in pool ${name}`);
      names.push(device.name);
      users.allocated(device.name);
      await sockets.renew(device.name);
      if (!needsProgram(pool)) continue;
      const prepared = await loader.prepare(forPod(device, pool));
      log.info({ pool: name, device: device.name, id, ...prepared }, "device prepared for a pod");
    }
    metrics.allocations.inc({ pool: name, result: "ok" });
    return containerAllocation(pool, names.sort(), paths);
  }

  async function serveRecord(): Promise<void> {
    const offered = record.pools.flatMap((pool) => pool.devices.map(({ id, name }) => ({ id, name, pool })));
    const served = [...record.retired, ...offered].filter(({ pool }) => pool.hasSocket);
    await inTurn.run(() => sockets.set(served));
    await plugins.set(record.pools);
  }

  async function namesInHost(): Promise<ReadonlySet<string>> {
    return new Set((await listLinks(links)).map(({ name }) => name));
  }

  /** Releases the devices that are in no pool any longer and that no pod has. Returns the others. */
  async function releaseRetired(pods: readonly PodDevices[] | undefined): Promise<readonly RetiredDevice[]> {
    const kept: RetiredDevice[] = [];
    for (const device of record.retired) {
      if (users.mayHaveDevice(pods, device, device.pool)) kept.push(device);
      else {
        await inTurn.run(() => xdp.release(device.name));
        log.info({ device: device.name, pool: device.pool.name }, "device released");
      }
    }
    return kept;
  }

  /**
   * Releases the devices that no pod has, at the end: this may be the last process of the plugin on the node, and a device gets its
   * program with its next allocation. A device that is not in the network namespace of the node may be in a pod that a kubelet does
   * not list yet, because it has just started.
   */
  async function releaseUnused(): Promise<void> {
    const offered = record.pools.flatMap((pool) => pool.devices.map((device) => ({ ...device, pool })));
    const pods = await users.readPods(AbortSignal.timeout(endLimitMs)).catch(() => undefined);
    const inHost = await namesInHost();
    for (const { pool, ...device } of [...offered, ...record.retired]) {
      if (!inHost.has(device.name) || users.mayHaveDevice(pods, device, pool)) continue;
      await inTurn
        .run(() => xdp.release(device.name))
        .catch((error: unknown) => {
          log.warn({ device: device.name, error }, "device not released");
        });
    }
  }

  await serveRecord();

  return {
    pools: () => record.pools,

    setPrograms(next) {
      programs = next;
    },

    async setPools(pools) {
      const names = new Set(pools.flatMap(({ devices }) => devices.map(({ name }) => name)));
      const before = [
        ...record.pools.flatMap(({ devices, ...pool }) => devices.map(({ id, name }) => ({ id, name, pool }))),
        ...record.retired,
      ];
      const next = { pools, retired: before.filter(({ name }) => !names.has(name)) };
      if (JSON.stringify(next) === JSON.stringify(record)) return;
      await writeRecord(paths.record, next); // before acting, so that a later process releases what this one does not
      record = next;
      await serveRecord();
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async update(signal) {
      const inHost = await namesInHost();
      const isAllInHost = record.pools.every(({ devices }) => devices.every(({ name }) => inHost.has(name)));
      const usesBpfman = isBpfman || programs.length > 0;
      const pods = isAllInHost && record.retired.length === 0 && !usesBpfman ? [] : await users.readPods(signal);
      const retired = await releaseRetired(pods);
      if (retired.length < record.retired.length) {
        record = { ...record, retired };
        await serveRecord();
        await writeRecord(paths.record, record);
      }
      const input = { record, programs, pods, inHost };
      const readyDevices = isBpfman ? await releaseForBpfman(input, { xdp, users, inTurn: inTurn.run, log }) : [];
      const bpfman = usesBpfman ? { readyDevices, releasedPrograms: releasedPrograms(input, users) } : undefined;
      const isRestricted = !(await isUnprivilegedBpfAllowed(paths.unprivilegedBpf));
      const served: ServedPool[] = [];
      let isIncomplete = false;
      for (const pool of record.pools) {
        const running = plugins.get(pool.name);
        if (running === undefined) continue;
        const held = pods && heldDevices(pods, resourceOf(pool));
        const { isUnprepared, ...announced } = await announce(pool, running, {
          held,
          inHost,
          isRestricted,
          loader,
          metrics,
        });
        if (isUnprepared && isBpfman) isIncomplete = true;
        served.push(announced);
      }
      return { pools: served, bpfman, isUnfinished: retired.length > 0 || pods === undefined || isIncomplete };
    },

    async [Symbol.asyncDispose]() {
      end.abort();
      await plugins[Symbol.asyncDispose]();
      await releaseUnused();
      sockets[Symbol.dispose]();
      watch[Symbol.dispose]();
      await inTurn.ended();
      await xdp[Symbol.asyncDispose]();
      await links[Symbol.asyncDispose]();
    },
  };
}

/** Announces the devices of a pool to the kubelet, with their health. */
async function announce(
  pool: NodePool,
  { plugin, register }: RunningPlugin,
  { held, inHost, isRestricted, loader, metrics }: Surroundings,
): Promise<ServedPool & { readonly isUnprepared: boolean }> {
  const before = new Map(plugin.devices().map(({ id, isHealthy }) => [id, isHealthy]));
  const problems: string[] = [];
  const devices: PluginDevice[] = [];
  let isUnprepared = false;
  const isHidden = pool.requiresUnprivilegedBpf && isRestricted;
  if (isHidden) problems.push("kernel.unprivileged_bpf_disabled is not 0, and the pool requires it");
  for (const device of isHidden ? [] : pool.devices) {
    const { id, name, numaNode } = device;
    const isInHost = inHost.has(name);
    const unprepared = isInHost && needsProgram(pool) ? await loader.problem(forPod(device, pool)) : undefined;
    if (unprepared !== undefined) isUnprepared = true;
    const earlierId = id !== name && held?.has(name) === true ? name : undefined;
    const facts = { isInHost, isHeld: held?.has(id), earlierId, problem: unprepared, wasHealthy: before.get(id) };
    const { isHealthy, problem } = deviceHealth(facts);
    if (problem !== undefined) problems.push(`device ${name}: ${problem}`);
    devices.push({ id, isHealthy, ...(numaNode !== undefined && { numaNode }) });
  }
  plugin.setDevices(devices);
  register();
  const healthy = devices.filter(({ isHealthy }) => isHealthy).length;
  metrics.devices.set({ pool: pool.name, health: "healthy" }, healthy);
  metrics.devices.set({ pool: pool.name, health: "unhealthy" }, devices.length - healthy);
  return { name: pool.name, announced: devices.length, healthy, problems, isUnprepared };
}

/** What decides whether the devices of a pool can be given to pods. */
interface Surroundings {
  /** The devices that pods have; undefined if the kubelet did not answer. */
  readonly held: ReadonlySet<string> | undefined;
  readonly inHost: ReadonlySet<string>;
  /** Whether unprivileged processes may not use BPF. */
  readonly isRestricted: boolean;
  readonly loader: DeviceLoader;
  readonly metrics: PluginMetrics;
}

/** Runs actions one after the other. */
interface Turns {
  readonly run: <Result>(act: () => Promise<Result>) => Promise<Result>;
  /** Resolves when the last action has ended. Never rejects. */
  readonly ended: () => Promise<void>;
}

/**
 * Devices are prepared and released one after the other, so that no device is released that the kubelet has just asked for, and no two
 * actions replace the socket of a device.
 */
function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Result>(act: () => Promise<Result>): Promise<Result> {
      const result = last.then(act);
      last = result.catch(() => undefined);
      return result;
    },
    async ended(): Promise<void> {
      await last;
    },
  };
}

function forPod(device: PoolDevice, { hasPinnedMap, uid }: NodePool): DeviceForPod {
  return { ...device, uid: hasPinnedMap ? uid : 0 };
}

/** A kernel without this parameter has BPF for unprivileged processes or none at all. */
async function isUnprivilegedBpfAllowed(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "0");
  return text.trim() === "0";
}
