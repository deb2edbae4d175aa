// SPDX-License-Identifier: Apache-2.0
/**
 * createFakeNodes simulates nodes in this process: each has a kubelet that starts and ends pods, and a config daemon on
 * its own fake kernel.
 */
import { nodes as nodeType, pods } from "@switchyard/api";
import { runDaemon } from "@switchyard/config-daemon/daemon";
import {
  createFakeKernel,
  mlx5,
  pci,
  serveFakeKernel,
  type FakeKernel,
  type FakeNic,
  type FakeWrite,
} from "@switchyard/host/testing";
import { collectionPath, isKubeError, isRecord, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { createLogger, Registry } from "@switchyard/service";
import { findWorkspaceRoot, spawnGuarded } from "@switchyard/testing";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { Observer } from "./observer.ts";
import { findNode, usageOf, type ProcessUsage } from "./process-usage.ts";

export interface FakeNodes extends AsyncDisposable {
  /** Registers the node and starts its daemon, in this process unless the options say otherwise. */
  add(name: string, options?: { readonly ownProcess?: boolean }): Promise<void>;
  /** Sends a signal to a daemon that is a process of its own. */
  signal(name: string, signal: "STOP" | "CONT"): void;
  /** Returns what a daemon that is a process of its own uses. */
  usage(name: string): Promise<ProcessUsage>;
  /** Switches the machine off and deletes its Node object. */
  remove(name: string): Promise<void>;
  /** Moves the interface of the port's first VF to a pod, so that the host does not see it any more. */
  giveVfToPod(name: string): Promise<void>;
  /** Returns the number of VFs in the kernel of each node. */
  countVfs(): Promise<ReadonlyMap<string, number>>;
  /** Returns the changes of VFs since the last call that affect pods: "worker-1: sriov_numvfs of 0000:3b:00.0 = 0". */
  takeVfChanges(): readonly string[];
  /** Returns all changes of hosts since the last call, without the daemon's own records: "worker-1: links.setMtu". */
  takeHostChanges(): readonly string[];
}

const port = pci("0000:3b:00.0");

interface Daemon {
  stop(): Promise<void>;
  /** Absent without a process of its own. */
  signal?(signal: "STOP" | "CONT"): void;
}

export interface FakeNodesOptions {
  readonly transport: Transport;
  /** Path of the kubeconfig of `transport`, for daemons in processes of their own. */
  readonly kubeconfig: string;
  readonly observer: Observer;
  /** The operator's namespace. */
  readonly namespace: string;
  /** Directory for the logs of the daemons. */
  readonly directory: string;
  /** Called with the error if a kubelet fails. */
  readonly fail: (error: unknown) => void;
  /** Further NICs of each node. */
  readonly nics?: readonly FakeNic[];
  /** Program of daemons in processes of their own. */
  readonly daemonMain?: string;
}

export function createFakeNodes({
  transport,
  kubeconfig,
  observer,
  namespace,
  directory,
  fail,
  nics = [],
  daemonMain = join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts"),
}: FakeNodesOptions): FakeNodes {
  const stream = createWriteStream(join(directory, "daemons.log"), { flags: "a" });
  const { log } = createLogger({ service: "config-daemon", level: "info", stream });
  const running = new Map<string, Daemon>();
  const kernels = new Map<string, FakeKernel>();
  const seenWrites = new Map<FakeKernel, number>();
  const seenChanges = new Map<FakeKernel, number>();
  const endPods = observer.subscribe(({ after }) => {
    if (after?.kind !== pods.kind || !isOurs(after)) return;
    (after.metadata.deletionTimestamp === undefined ? runPod(after) : endPod(after)).catch(fail);
  });
  /** Reports the node as Ready, as a kubelet does. */
  async function report(name: string): Promise<void> {
    const now = new Date().toISOString();
    const times = { lastHeartbeatTime: now, lastTransitionTime: now };
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "", ...times }];
    const path = objectPath(nodeType, { name }, "status");
    const contentType = "application/merge-patch+json";
    await unlessGone(transport.request({ method: "PATCH", path, contentType, body: { status: { conditions } } }));
  }

  async function runPod(pod: KubeObject): Promise<void> {
    if ("status" in pod && isRecord(pod.status) && pod.status["phase"] === "Running") return;
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    const path = objectPath(pods, pod.metadata, "status");
    const contentType = "application/merge-patch+json";
    await unlessGone(transport.request({ method: "PATCH", path, contentType, body: { status } }));
  }

  async function endPod({ metadata }: KubeObject): Promise<void> {
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
    await unlessGone(transport.request({ method: "DELETE", path: objectPath(pods, metadata), body }));
  }

  function isOurs(pod: KubeObject): boolean {
    const spec = "spec" in pod && isRecord(pod.spec) ? pod.spec : {};
    return typeof spec["nodeName"] === "string" && running.has(spec["nodeName"]);
  }

  async function stop(name: string): Promise<void> {
    const node = running.get(name);
    running.delete(name);
    await node?.stop();
  }

  function startHere(name: string, kernel: FakeKernel): Daemon {
    const end = new AbortController();
    const ended = runDaemon({
      transport,
      namespace,
      nodeName: name,
      maxPfs: 4 + nics.length,
      maxCacheAgeMs: 300_000,
      signal: end.signal,
      host: kernel.host(),
      log: log.child({ node: name }),
      metrics: new Registry(),
      setNotReady: () => undefined,
    });
    return {
      async stop() {
        end.abort();
        await ended;
      },
    };
  }

  function kernelSocket(name: string): string {
    return join(directory, `${name}.sock`);
  }

  /** The daemon as a process, on the kernel in this process. */
  async function startProcess(name: string, kernel: FakeKernel): Promise<Daemon> {
    const socket = kernelSocket(name);
    const served = await serveFakeKernel(kernel, socket);
    const ofCluster = ["--kubeconfig", kubeconfig, "--namespace", namespace];
    const ofNode = ["--node-name", name, "--kernel-socket", socket];
    const daemon = spawnGuarded(process.execPath, [daemonMain, ...ofCluster, ...ofNode], {
      log: join(directory, "daemons.log"),
    });
    return {
      async stop() {
        await daemon.kill();
        await served[Symbol.asyncDispose]();
      },
      signal(signal) {
        daemon.signal(signal);
      },
    };
  }

  return {
    async add(name, { ownProcess = false } = {}) {
      const labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
      };
      const body: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
      await transport.request({ method: "POST", path: collectionPath(nodeType), body });
      await report(name);
      const kernel = createFakeKernel({ nics: [mlx5(port), ...nics] });
      kernels.set(name, kernel);
      running.set(name, ownProcess ? await startProcess(name, kernel) : startHere(name, kernel));
    },
    signal(name, signal) {
      running.get(name)?.signal?.(signal);
    },
    usage: async (name) => usageOf(await findNode(kernelSocket(name))),
    async remove(name) {
      await stop(name);
      await unlessGone(transport.request({ method: "DELETE", path: objectPath(nodeType, { name }) }));
    },
    async giveVfToPod(name) {
      const kernel = kernels.get(name);
      const pf = await kernel?.host().sriov.readPf(port);
      const [vf] = pf?.sriov?.vfs ?? [];
      if (kernel === undefined || vf === undefined) throw new RangeError(`${name} has no VF`);
      kernel.moveToPod(vf.pciAddress);
    },
    async countVfs() {
      const counts = [...kernels].map(async ([name, kernel]): Promise<[string, number]> => {
        return [name, (await kernel.host().sriov.readPf(port))?.sriov?.vfs.length ?? 0];
      });
      return new Map(await Promise.all(counts));
    },
    takeVfChanges() {
      return [...kernels].flatMap(([name, kernel]) => {
        const news = kernel.writes.slice(seenWrites.get(kernel) ?? 0);
        seenWrites.set(kernel, kernel.writes.length);
        return news.flatMap((write) => vfChange(write).map((change) => `${name}: ${change}`));
      });
    },
    takeHostChanges() {
      return [...kernels].flatMap(([name, kernel]) => {
        const news = kernel.writes.slice(seenChanges.get(kernel) ?? 0);
        seenChanges.set(kernel, kernel.writes.length);
        return news.flatMap(({ port: of, method }) => (of === "records" ? [] : `${name}: ${of}.${method}`));
      });
    },
    async [Symbol.asyncDispose]() {
      endPods();
      await Promise.all([...running.keys()].map(stop));
      await new Promise((resolve) => stream.end(resolve));
    },
  };
}

/** Unbinding the driver of a VF affects its pod as much as removing the VF. */
function vfChange({ method, args, code }: FakeWrite): readonly string[] {
  if (code !== undefined) return [];
  if (method === "setNumVfs") return [`sriov_numvfs of ${String(args[0])} = ${String(args[1])}`];
  return method === "unbindDriver" ? [`driver of ${String(args[0])} unbound`] : [];
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, "NotFound", "Conflict")) throw error;
  }
}
