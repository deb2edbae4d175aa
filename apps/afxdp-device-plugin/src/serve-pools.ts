// SPDX-License-Identifier: Apache-2.0
/**
 * createPoolServer serves the pools of the node to the kubelet and to pods, and releases devices that are in no pool any longer, and
 * at its end those that no pod has. The caller says which pools there are and when something may have changed; the rest is read from
 * the kernel and from the kubelet.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AfxdpBpfmanStatus, AfxdpLoadedProgram, AfxdpLoader } from "@switchyard/api";
import { watchSockets, type PluginDevice, type PodDevices } from "@switchyard/kubelet";
import { listLinks, NetlinkSocket, protocols } from "@switchyard/netlink";
import type { Logger } from "@switchyard/service";
import { keepRegistered } from "./kubelet/keep-registered.ts";
import { heldDevices, readPodDevices } from "./kubelet/read-pod-devices.ts";
import { createBpfmanLoader } from "./loaders/bpfman-loader.ts";
import { createBuiltinLoader, type DeviceForPod } from "./loaders/builtin-loader.ts";
import type { PluginMetrics } from "./plugin-metrics.ts";
import { containerAllocation, type DevicePaths } from "./pools/container-allocation.ts";
import { deviceHealth, hasDevice, type DeviceId } from "./pools/device.ts";
import { resourceOf, type NodePool, type PoolDevice } from "./pools/node-pools.ts";
import { createPoolPlugin, type PoolPlugin } from "./pools/pool-plugin.ts";
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

interface Running {
  readonly plugin: PoolPlugin;
  /** Serves the plugin and registers it, from the first call on. */
  register(): void;
  readonly stop: () => Promise<void>;
}

export async function createPoolServer(options: PoolServerOptions): Promise<PoolServer> {
  const { paths, log, metrics, netns, settlingMs = defaultSettlingMs } = options;
  const pluginDirectory = join(paths.kubelet, "device-plugins");
  const podResources = join(paths.kubelet, "pod-resources", "kubelet.sock");
  let record: PluginRecord = await readRecord(paths.record);
  const end = new AbortController();
  const links = new NetlinkSocket({ protocol: protocols.route, netns });
  const xdp = createXdpDevices({ maps: paths.maps, ...(netns !== undefined && { netns }) });
  let programs: readonly AfxdpLoadedProgram[] = [];
  const isBpfman = options.loader === "bpfman";
  const loader = isBpfman
    ? createBpfmanLoader({ xdp, socket: links, programs: () => programs })
    : createBuiltinLoader({ xdp, inTurn });
  const watch = watchSockets(pluginDirectory);
  const running = new Map<string, Running>();
  const sockets = createMapSockets({
    directory: paths.sockets,
    podDevices: () => readPodDevices(podResources, end.signal),
    openMap: xdp.openMap,
    log,
    ended(pool, result) {
      metrics.connections.inc({ pool, result });
    },
  });

  // The kubelet lists a device as that of a pod only after it has the answer to its call.
  const allocatedAtMs = new Map<string, number>();

  const listeners = new Set<() => void>();

  // Devices are prepared and released one after the other, so that no device is released that the kubelet has just asked for.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return result;
  }

  async function allocate(name: string, devices: readonly string[]) {
    const pool = record.pools.find((one) => one.name === name);
    if (pool === undefined) throw new Error(`pool ${name} is not offered any longer`);
    const names: string[] = [];
    for (const id of devices) {
      const device = pool.devices.find((one) => one.id === id);
      if (device === undefined) throw new Error(`device ${id} is not in pool ${name}`);
      names.push(device.name);
      allocatedAtMs.set(device.name, performance.now());
      if (!needsProgram(pool)) continue;
      const prepared = await loader.prepare(forPod(device, pool));
      log.info({ pool: name, device: device.name, id, ...prepared }, "device prepared for a pod");
    }
    metrics.allocations.inc({ pool: name, result: "ok" });
    return containerAllocation(pool, names.sort(), paths);
  }

  function run({ name }: NodePool): Running {
    const stopped = new AbortController();
    const plugin = createPoolPlugin({
      allocate: (devices) => inTurn(() => allocate(name, devices)),
      failed(error) {
        metrics.allocations.inc({ pool: name, result: "failed" });
        log.warn({ pool: name, error }, "allocation failed");
        for (const listener of listeners) listener();
      },
    });
    const resourceName = resourceOf({ name });
    let done: Promise<void> | undefined;
    return {
      plugin,
      // Not earlier: an empty list would take the devices from pods that the kubelet admits at the same time.
      register() {
        done ??= keepRegistered(
          {
            directory: pluginDirectory,
            endpoint: `afxdp-${name}.sock`,
            resourceName,
            service: plugin.service,
            watch,
            registered() {
              metrics.registrations.inc({ pool: name, result: "ok" });
              log.info({ resource: resourceName }, "registered with the kubelet");
            },
            failed(error, retryMs) {
              metrics.registrations.inc({ pool: name, result: "failed" });
              log.warn({ resource: resourceName, error, retryMs }, "not registered with the kubelet; retrying");
            },
          },
          stopped.signal,
        );
      },
      async stop() {
        stopped.abort();
        await done;
      },
    };
  }

  /** Serves the pools of the record. */
  async function serveRecord(): Promise<void> {
    const offered = record.pools.flatMap((pool) => pool.devices.map(({ id, name }) => ({ id, name, pool })));
    await sockets.set([...record.retired, ...offered].filter(({ pool }) => pool.hasSocket));
    for (const pool of record.pools) if (!running.has(pool.name)) running.set(pool.name, run(pool));
    for (const [name, { plugin, stop }] of running) {
      if (record.pools.some((pool) => pool.name === name)) continue;
      plugin.setDevices([]);
      running.delete(name);
      await stop();
      for (const health of ["healthy", "unhealthy"]) metrics.devices.remove({ pool: name, health });
      log.info({ resource: resourceOf({ name }) }, "resource withdrawn");
    }
  }

  await serveRecord();

  /** Returns undefined, which is not "no pods", if the kubelet does not answer. */
  async function readPods(signal: AbortSignal): Promise<readonly PodDevices[] | undefined> {
    try {
      return await readPodDevices(podResources, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ socket: podResources, error }, "devices of pods unknown; retrying");
      return undefined;
    }
  }

  /** Whether a pod has the device, or may be getting it. */
  function mayHaveDevice(
    pods: readonly PodDevices[] | undefined,
    device: DeviceId,
    pool: Pick<NodePool, "name">,
  ): boolean {
    const isNew = performance.now() - (allocatedAtMs.get(device.name) ?? -Infinity) < settlingMs;
    return isNew || pods === undefined || hasDevice(heldDevices(pods, resourceOf(pool)), device);
  }

  async function release(pods: readonly PodDevices[] | undefined): Promise<readonly RetiredDevice[]> {
    const kept: RetiredDevice[] = [];
    for (const device of record.retired) {
      if (mayHaveDevice(pods, device, device.pool)) kept.push(device);
      else {
        await inTurn(() => xdp.release(device.name));
        log.info({ device: device.name, pool: device.pool.name }, "device released");
      }
    }
    return kept;
  }

  async function namesInHost(): Promise<ReadonlySet<string>> {
    return new Set((await listLinks(links)).map(({ name }) => name));
  }

  /**
   * Releases the devices that no pod has, at the end: this may be the last process of the plugin on the node, and a device gets its
   * program with its next allocation. A device that is not in the network namespace of the node may be in a pod that a kubelet does
   * not list yet, because it has just started.
   */
  async function releaseUnused(): Promise<void> {
    const offered = record.pools.flatMap((pool) => pool.devices.map((device) => ({ ...device, pool })));
    const pods = await readPods(AbortSignal.timeout(endLimitMs)).catch(() => undefined);
    const inHost = await namesInHost();
    for (const { pool, ...device } of [...offered, ...record.retired]) {
      if (!inHost.has(device.name) || mayHaveDevice(pods, device, pool)) continue;
      await inTurn(() => xdp.release(device.name)).catch((error: unknown) => {
        log.warn({ device: device.name, error }, "device not released");
      });
    }
  }

  /**
   * Releases our own programs for bpfman where no pod has the device, and returns what the operator has to know. A device stays
   * ready while a pod has it: then it is not in the network namespace of the node, but bpfman's program is on it.
   */
  async function reportForBpfman(
    pods: readonly PodDevices[] | undefined,
    inHost: ReadonlySet<string>,
  ): Promise<Required<AfxdpBpfmanStatus>> {
    const inPools = record.pools
      .filter(needsProgram)
      .flatMap((pool) => pool.devices.map((device) => ({ device, pool })));
    const readyDevices: string[] = [];
    for (const { device, pool } of isBpfman ? inPools : []) {
      const { key, name } = device;
      if (!inHost.has(name)) {
        if (programs.some((program) => program.device === key && program.programID !== undefined))
          readyDevices.push(key);
        continue;
      }
      await inTurn(async () => {
        if (!(await xdp.hasProgram(name))) readyDevices.push(key);
        else if (!mayHaveDevice(pods, device, pool)) {
          await xdp.release(name);
          log.info({ device: name }, "program released, for that of bpfman");
          readyDevices.push(key);
        }
      });
    }
    const isUsed = ({ device: key, interfaceName }: AfxdpLoadedProgram): boolean =>
      inPools.some(({ device, pool }) => device.key === key && mayHaveDevice(pods, device, pool)) ||
      record.retired.some(({ id, name }) => id === key || name === interfaceName);
    const releasedPrograms = programs.flatMap((program) =>
      program.release === true && program.programID !== undefined && pods !== undefined && !isUsed(program)
        ? [program.programID]
        : [],
    );
    return { readyDevices: readyDevices.sort(), releasedPrograms: releasedPrograms.sort((a, b) => a - b) };
  }

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
      const pods = isAllInHost && record.retired.length === 0 && !usesBpfman ? [] : await readPods(signal);
      const retired = await release(pods);
      if (retired.length < record.retired.length) {
        record = { ...record, retired };
        await serveRecord();
        await writeRecord(paths.record, record);
      }
      const bpfman = usesBpfman ? await reportForBpfman(pods, inHost) : undefined;
      const isRestricted = !(await isUnprivilegedBpfAllowed(paths.unprivilegedBpf));
      const served: ServedPool[] = [];
      let isIncomplete = false;
      for (const pool of record.pools) {
        const held = pods && heldDevices(pods, resourceOf(pool));
        const run = running.get(pool.name);
        if (run === undefined) continue;
        const { plugin } = run;
        const before = new Map(plugin.devices().map(({ id, isHealthy }) => [id, isHealthy]));
        const problems: string[] = [];
        const devices: PluginDevice[] = [];
        const isHidden = pool.requiresUnprivilegedBpf && isRestricted;
        if (isHidden) problems.push("kernel.unprivileged_bpf_disabled is not 0, and the pool requires it");
        for (const device of isHidden ? [] : pool.devices) {
          const { id, name, numaNode } = device;
          const isInHost = inHost.has(name);
          const unprepared = isInHost && needsProgram(pool) ? await loader.problem(forPod(device, pool)) : undefined;
          if (unprepared !== undefined && isBpfman) isIncomplete = true;
          const earlierId = id !== name && held?.has(name) === true ? name : undefined;
          const facts = { isInHost, isHeld: held?.has(id), earlierId, problem: unprepared, wasHealthy: before.get(id) };
          const { isHealthy, problem } = deviceHealth(facts);
          if (problem !== undefined) problems.push(`device ${name}: ${problem}`);
          devices.push({ id, isHealthy, ...(numaNode !== undefined && { numaNode }) });
        }
        plugin.setDevices(devices);
        run.register();
        const healthy = devices.filter(({ isHealthy }) => isHealthy).length;
        metrics.devices.set({ pool: pool.name, health: "healthy" }, healthy);
        metrics.devices.set({ pool: pool.name, health: "unhealthy" }, devices.length - healthy);
        served.push({ name: pool.name, announced: devices.length, healthy, problems });
      }
      return { pools: served, bpfman, isUnfinished: retired.length > 0 || pods === undefined || isIncomplete };
    },

    async [Symbol.asyncDispose]() {
      end.abort();
      await Promise.all([...running.values()].map(({ stop }) => stop()));
      await releaseUnused();
      sockets[Symbol.dispose]();
      watch[Symbol.dispose]();
      await last.catch(() => undefined);
      await xdp[Symbol.asyncDispose]();
      await links[Symbol.asyncDispose]();
    },
  };
}

function forPod(device: PoolDevice, { hasPinnedMap, uid }: NodePool): DeviceForPod {
  return { ...device, uid: hasPinnedMap ? uid : 0 };
}

function needsProgram({ hasSocket, hasPinnedMap }: Pick<NodePool, "hasSocket" | "hasPinnedMap">): boolean {
  return hasSocket || hasPinnedMap;
}

/** A kernel without this parameter has BPF for unprivileged processes or none at all. */
async function isUnprivilegedBpfAllowed(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "0");
  return text.trim() === "0";
}
