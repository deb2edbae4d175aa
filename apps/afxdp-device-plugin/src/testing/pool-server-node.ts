// SPDX-License-Identifier: Apache-2.0
/**
 * createPoolServerNode is a node for tests of the pool server. It has a network namespace with the devices v0 and v1, whose other ends
 * are p0 and p1, a BPF file system, and a fake kubelet. Kernel, programs and sockets are real.
 */
import { xskMapDirectory } from "@switchyard/api";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import type { PodDevices } from "@switchyard/kubelet";
import { NetlinkSocket, protocols, readXdp } from "@switchyard/netlink";
import { createNetworkNamespace, type NetworkNamespace } from "@switchyard/netlink/testing";
import { Registry } from "@switchyard/service";
import { silentLogger } from "@switchyard/service/testing";
import { createPluginMetrics } from "../plugin-metrics.ts";
import type { NodePool } from "../pools/node-pools.ts";
import { createPoolServer, type ServedPool } from "../serve-pools.ts";

export interface PoolServerNode extends AsyncDisposable {
  readonly namespace: NetworkNamespace;
  readonly links: NetlinkSocket;
  readonly kubelet: FakeKubelet;
  /** Has the sockets of the devices in `sockets`, and the record in `record/pools.json`. */
  readonly directory: string;
  /** Directory of the maps, which can be another one at the next start. It does not exist, as on a new node. */
  maps: string;
  /** Ends the server. */
  stop(): Promise<void>;
  /** Ends the server and starts another one. */
  restart(): Promise<void>;
  /** Sets the pools and returns what is served. */
  offer(...pools: readonly NodePool[]): Promise<readonly ServedPool[]>;
  update(): Promise<readonly ServedPool[]>;
  /** Ids of the XDP programs of a device. */
  programsOf(device: string): Promise<readonly number[]>;
}

const signal = new AbortController().signal;

export async function createPoolServerNode(): Promise<PoolServerNode> {
  const namespace = await createNetworkNamespace();
  const links = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
  await namespace.run("mount", "-t", "bpf", "bpf", "/mnt");
  const sh = "for n in 0 1; do ip link add v$n type veth peer name p$n; ip link set p$n up; done";
  await namespace.run("sh", "-c", sh);
  const directory = mkdtempSync(join(tmpdir(), "afxdp-"));
  const kubelet = await startFakeKubelet(directory);
  kubelet.pods = [];
  const node = { namespace, links, kubelet, directory, maps: join(`${namespace.root}/mnt`, xskMapDirectory) };
  const start = () =>
    createPoolServer({
      paths: {
        kubelet: directory,
        sockets: join(directory, "sockets"),
        maps: node.maps,
        record: join(directory, "record", "pools.json"),
        unprivilegedBpf: join(directory, "unprivileged_bpf_disabled"),
      },
      loader: "builtin",
      settlingMs: 0,
      netns: namespace.path,
      metrics: createPluginMetrics(new Registry()),
      log: silentLogger,
    });
  let server = await start();
  let isRunning = true;
  async function stop(): Promise<void> {
    if (isRunning) await server[Symbol.asyncDispose]();
    isRunning = false;
  }
  const update = async () => (await server.update(signal)).pools;
  return Object.assign(node, {
    stop,
    async restart() {
      await stop();
      server = await start();
      isRunning = true;
    },
    async offer(...pools: readonly NodePool[]) {
      await server.setPools(pools);
      const served = await update();
      for (const { name } of pools) {
        const { announced } = served.find((one) => one.name === name) ?? {};
        await kubelet.until(`afxdp/${name}`, (devices) => devices?.length === announced);
      }
      return served;
    },
    update,
    programsOf: async (device: string) => (await readXdp(links, device)).map(({ programId }) => programId),
    async [Symbol.asyncDispose]() {
      await stop();
      await kubelet[Symbol.asyncDispose]();
      await links[Symbol.asyncDispose]();
      await namespace[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  });
}

/** A pool with sockets, for root. */
export function poolOf(name: string, devices: readonly string[], settings: Partial<NodePool> = {}): NodePool {
  return {
    name,
    hasSocket: true,
    hasPinnedMap: false,
    idleTimeoutMs: 0,
    uid: 0,
    requiresUnprivilegedBpf: false,
    devices: devices.map((id) => ({ id, name: id, key: id, queues: 1 })),
    ...settings,
  };
}

/** A pod that has devices of the pool. */
export function podWith(pool: string, ...ids: readonly string[]): PodDevices {
  const devices = ids.map((id) => ({ resourceName: `afxdp/${pool}`, ids: [id] }));
  return { name: "app", namespace: "default", containers: [{ name: "app", devices }] };
}
