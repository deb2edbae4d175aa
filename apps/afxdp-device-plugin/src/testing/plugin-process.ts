// SPDX-License-Identifier: Apache-2.0
/**
 * A process for tests in e2e: the pool server in the network namespace of the process, without API server, with the kubelet of
 * KUBELET-DIRECTORY, or else a fake one. It answers each line of its stdin, a Request, with a line of JSON, and ends with its stdin.
 * Usage: `node apps/afxdp-device-plugin/src/testing/plugin-process.ts DIRECTORY BPF-DIRECTORY [KUBELET-DIRECTORY] <requests`.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Registry } from "@switchyard/service";
import { createPodResources, type PodDevices } from "@switchyard/kubelet";
import { createPluginMetrics } from "../plugin-metrics.ts";
import type { NodePool } from "../pools/node-pools.ts";
import { createPoolServer } from "../serve-pools.ts";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import { silentLogger } from "@switchyard/service/testing";

/** One member is there. */
interface Request {
  /** Sets the pools and returns what is served. */
  readonly pools?: readonly NodePool[];
  /** Sets the devices of pods in the fake kubelet, and returns what is served. */
  readonly pods?: readonly PodDevices[];
  /** Allocates devices by the fake kubelet. If the plugin refuses, the answer has its words as `error`. */
  readonly allocate?: { readonly resource: string; readonly ids: readonly string[] };
  /** Returns the devices of pods as the kubelet lists them. */
  readonly list?: true;
}

const [directory = "", maps = "", kubeletDirectory] = process.argv.slice(2);
const signal = new AbortController().signal;
await using fake = kubeletDirectory === undefined ? await startFakeKubelet(directory) : undefined;
const podResources = createPodResources({ path: join(kubeletDirectory ?? directory, "pod-resources", "kubelet.sock") });
await using server = await createPoolServer({
  paths: {
    kubelet: kubeletDirectory ?? directory,
    sockets: join(directory, "sockets"),
    maps,
    record: join(directory, "pools.json"),
    unprivilegedBpf: "/proc/sys/kernel/unprivileged_bpf_disabled",
  },
  loader: "builtin",
  settlingMs: 0,
  metrics: createPluginMetrics(new Registry()),
  log: silentLogger,
});

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as Request))}\n`);
}

async function answer({ pools, pods, allocate, list }: Request): Promise<unknown> {
  if (list) {
    const { pods: listed } = await podResources.listPods(signal, { isFresh: true }).catch(() => ({ pods: [] })); // it does not answer yet
    return listed;
  }
  if (allocate !== undefined) {
    return fake?.allocate(allocate.resource, allocate.ids).catch((error: unknown) => ({ error: String(error) }));
  }
  if (pods !== undefined && fake !== undefined) fake.pods = pods;
  if (pools !== undefined) await server.setPools(pools);
  const { pools: served } = await server.update(signal);
  for (const { name, announced } of served) {
    await fake?.until(`afxdp/${name}`, (devices) => devices?.length === announced);
  }
  return served.map((pool) => ({ ...pool, devices: fake?.lists(`afxdp/${pool.name}`).at(-1) }));
}
