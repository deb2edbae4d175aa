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
import { createTurns, type Logger } from "@switchyard/service";
import { releaseForBpfman, releasedPrograms } from "./bpfman-report.ts";
import { createDeviceUsers, type DeviceUsers } from "./device-users.ts";
import { createLeaseBook } from "./lease-book.ts";
import { heldDevices } from "./kubelet/read-pod-devices.ts";
import { createBpfmanLoader } from "./loaders/bpfman-loader.ts";
import { createBuiltinLoader, type DeviceForPod, type DeviceLoader } from "./loaders/builtin-loader.ts";
import type { PluginMetrics } from "./plugin-metrics.ts";
import { containerAllocation, type DevicePaths } from "./pools/container-allocation.ts";
import { deviceHealth } from "./pools/device.ts";
import { needsProgram, resourceOf, type NodePool, type PoolDevice } from "./pools/node-pools.ts";
import { createPoolPlugins, type RunningPlugin } from "./pool-plugins.ts";
import { openRecord, writeRecord, type PluginRecord, type RetiredDevice } from "./record.ts";
import { retiredDevices } from "./retired-devices.ts";
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
  let record: PluginRecord = await openRecord(paths.record, log);
  const end = new AbortController();
  const links = new NetlinkSocket({ protocol: protocols.route, netns });
  const xdp = createXdpDevices({ maps: paths.maps, ...(netns !== undefined && { netns }) });
  let programs: readonly AfxdpLoadedProgram[] = [];
  const isBpfman = options.loader === "bpfman";
  /** No device is released that the kubelet has just asked for. */
  const inTurn = createTurns();
  /** An allocation and an update can both serve sockets. */
  const inSocketTurn = createTurns();
  const loader = isBpfman
    ? createBpfmanLoader({ xdp, socket: links, programs: () => programs })
    : createBuiltinLoader({ xdp, inTurn: inTurn.run });
  const users = createDeviceUsers({ podResources, settlingMs, log });
  const leases = createLeaseBook({
    xdp,
    users,
    inTurn: inTurn.run,
    log,
    leases: () => record.leases,
    async save(next) {
      record = { ...record, leases: next };
      await writeRecord(paths.record, record);
    },
  });
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
      await leaveEarlierPool(device, pool);
      names.push(device.name);
      users.allocated(device.name);
      await inSocketTurn.run(() => sockets.renew(device.name));
      // bpfman may replace its programs at any time.
      if (!isBpfman) await leases.begin(device);
      if (!needsProgram(pool)) {
        await xdp.release(device.name); // a program in the pod attaches its own
        continue;
      }
      const prepared = await loader.prepare(forPod(device, pool));
      log.info({ pool: name, device: device.name, id, ...prepared }, "device prepared for a pod");
    }
    metrics.allocations.inc({ pool: name, result: "ok" });
    return containerAllocation(pool, names.sort(), paths);
  }

  /** The kubelet gives the device to a new pod, so that the pod before has ended. */
  async function leaveEarlierPool({ name }: PoolDevice, pool: NodePool): Promise<void> {
    const earlier = record.retired.find((one) => one.name === name)?.pool;
    if (earlier === undefined) return;
    if (earlier.name !== pool.name) throw new Error(`device ${name} ${staysIn(earlier)}`);
    record = { ...record, retired: record.retired.filter((one) => one.name !== name) };
    await serveSockets();
  }

  async function serveSockets(): Promise<void> {
    const leaving = new Set(record.retired.map(({ name }) => name));
    const offered = record.pools
      .flatMap((pool) => pool.devices.map(({ id, name }) => ({ id, name, pool })))
      .filter(({ name }) => !leaving.has(name));
    await inSocketTurn.run(() => sockets.set([...record.retired, ...offered].filter(({ pool }) => pool.hasSocket)));
  }

  async function serveRecord(): Promise<void> {
    await serveSockets();
    await plugins.set(record.pools);
  }

  /** The interfaces in the network namespace of the node, each with what can change the answer of its driver. */
  async function readHostLinks(): Promise<ReadonlyMap<string, string>> {
    return new Map((await listLinks(links)).map(({ name, index, mtu }) => [name, `${index} ${mtu}`]));
  }

  /** Releases the devices that are in no pool any longer and that no pod has. Returns the others. */
  async function releaseRetired(pods: readonly PodDevices[] | undefined): Promise<readonly RetiredDevice[]> {
    const kept: RetiredDevice[] = [];
    for (const device of record.retired) {
      await inTurn.run(async () => {
        if (!record.retired.includes(device)) return; // another pod got it meanwhile
        if (users.mayHaveDevice(pods, device, device.pool)) kept.push(device);
        else {
          await xdp.release(device.name);
          log.info({ device: device.name, pool: device.pool.name }, "device released");
        }
      });
    }
    return kept;
  }

  /**
   * Releases the devices that no pod has, at the end: this may be the last process of the plugin on the node, and a device gets its
   * program with its next allocation. A device that is not in the network namespace of the node may be in a pod that a kubelet does
   * not list yet, because it has just started.
   */
  async function releaseUnused(): Promise<void> {
    const offered = record.pools.flatMap(({ devices }) => devices);
    const pods = await users.readPods(AbortSignal.timeout(endLimitMs)).catch(() => undefined);
    const inHost = await readHostLinks();
    for (const device of [...offered, ...record.retired]) {
      if (!inHost.has(device.name) || users.mayBeUsed(pods, device)) continue;
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
      const next = { ...record, pools, retired: retiredDevices(record, pools) };
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
      await serveSockets(); // what another process has removed
      const inHost = await readHostLinks();
      const usesBpfman = isBpfman || programs.length > 0;
      const pods = canPodsHaveDevices(record, inHost) || usesBpfman ? await users.readPods(signal) : [];
      const areLeasesOpen = await leases.close(pods, inHost);
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
      const mapsProblem = await xdp.mapsProblem();
      const served: ServedPool[] = [];
      let isIncomplete = false;
      for (const pool of record.pools) {
        const running = plugins.get(pool.name);
        if (running === undefined) continue;
        const held = pods && heldDevices(pods, resourceOf(pool));
        const { isUnprepared, ...announced } = await announce(pool, running, {
          ...{ held, pods, users, inHost, isRestricted, mapsProblem, loader, metrics },
          earlierPools: new Map(record.retired.map(({ name, pool: earlier }) => [name, earlier])),
          foreignProgram: (name) => xdp.foreignProgram(name),
        });
        if (isUnprepared && isBpfman) isIncomplete = true;
        served.push(announced);
      }
      const isUnfinished = retired.length > 0 || areLeasesOpen || pods === undefined || isIncomplete;
      return { pools: served, bpfman, isUnfinished };
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
  surroundings: Surroundings,
): Promise<ServedPool & { readonly isUnprepared: boolean }> {
  const { held, inHost, isRestricted, mapsProblem, metrics } = surroundings;
  const before = new Map(plugin.devices().map(({ id, isHealthy }) => [id, isHealthy]));
  const problems: string[] = [];
  const devices: PluginDevice[] = [];
  let isUnprepared = false;
  const isHidden = pool.requiresUnprivilegedBpf && isRestricted;
  if (isHidden) problems.push("kernel.unprivileged_bpf_disabled is not 0, and the pool requires it");
  const lacksMaps = needsProgram(pool) && mapsProblem !== undefined;
  if (lacksMaps && !isHidden) problems.push(mapsProblem);
  for (const device of isHidden ? [] : pool.devices) {
    const { id, name, numaNode } = device;
    const isInHost = inHost.has(name);
    if (lacksMaps && isInHost) {
      devices.push({ id, isHealthy: false, ...(numaNode !== undefined && { numaNode }) });
      continue;
    }
    const unprepared = await deviceProblem(device, pool, surroundings);
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

/** Returns why a device cannot be given to a pod, as far as it is on the host or in another pool. */
async function deviceProblem(
  device: PoolDevice,
  pool: NodePool,
  { pods, users, inHost, earlierPools, loader, foreignProgram }: Surroundings,
): Promise<string | undefined> {
  const earlier = earlierPools.get(device.name);
  if (earlier !== undefined && earlier.name !== pool.name) return staysIn(earlier);
  const state = inHost.get(device.name);
  if (state === undefined) return undefined;
  const isFree = !users.mayBeUsed(pods, device);
  if (needsProgram(pool)) return loader.problem({ ...forPod(device, pool), state, isFree });
  const foreign = isFree ? await foreignProgram(device.name) : undefined; // a pod has its own
  return foreign === undefined ? undefined : `it has an XDP program that Switchyard did not attach: ${foreign}`;
}

function staysIn({ name }: Pick<NodePool, "name">): string {
  return `stays in its earlier pool ${name} until no pod has it as ${resourceOf({ name })}`;
}

/** Without such devices, the kubelet need not be asked. */
function canPodsHaveDevices({ pools, retired, leases }: PluginRecord, inHost: ReadonlyMap<string, string>): boolean {
  if (retired.length > 0 || leases.length > 0) return true;
  return pools.some((pool) => !needsProgram(pool) || pool.devices.some(({ name }) => !inHost.has(name)));
}

/** What decides whether the devices of a pool can be given to pods. */
interface Surroundings {
  /** The devices of all pods; undefined if the kubelet did not answer. */
  readonly pods: readonly PodDevices[] | undefined;
  readonly users: Pick<DeviceUsers, "mayBeUsed">;
  /** Pools in which devices stay, by the name of the device, while a pod has them. */
  readonly earlierPools: ReadonlyMap<string, Pick<NodePool, "name">>;
  readonly foreignProgram: (name: string) => Promise<string | undefined>;
  /** Why no map can be pinned. */
  readonly mapsProblem: string | undefined;
  /** The devices that pods have; undefined if the kubelet did not answer. */
  readonly held: ReadonlySet<string> | undefined;
  /** The interfaces in the network namespace of the node, with their states. */
  readonly inHost: ReadonlyMap<string, string>;
  /** Whether unprivileged processes may not use BPF. */
  readonly isRestricted: boolean;
  readonly loader: DeviceLoader;
  readonly metrics: PluginMetrics;
}

function forPod(device: PoolDevice, { hasPinnedMap, uid }: NodePool): DeviceForPod {
  return { ...device, uid: hasPinnedMap ? uid : 0 };
}

/** A kernel without this parameter has BPF for unprivileged processes or none at all. */
async function isUnprivilegedBpfAllowed(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "0");
  return text.trim() === "0";
}
