// SPDX-License-Identifier: Apache-2.0
/**
 * The nodes of a cluster that has none: each with a kubelet that runs pods and ends them,
 * and with a config daemon on a kernel of its own, all in this process.
 * Usage: `await using nodes = createFakeNodes({ transport, … }); await nodes.add("worker-1"); await nodes.remove("worker-1")`.
 */
import { nodes as nodeType } from "@switchyard/api";
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { createFakeKernel, mlx5 } from "@switchyard/host/testing";
import { collectionPath, isKubeError, isRecord, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { createLogger, Registry } from "@switchyard/service";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { Observer } from "./observer.ts";
import { pods } from "./types.ts";

export interface FakeNodes extends AsyncDisposable {
  /** Registers the node and starts its daemon. */
  add(name: string): Promise<void>;
  /** Switches the machine off and deletes its Node. */
  remove(name: string): Promise<void>;
}

export interface FakeNodesOptions {
  readonly transport: Transport;
  readonly observer: Observer;
  /** The operator's. */
  readonly namespace: string;
  /** Gets the daemons' log. */
  readonly directory: string;
  /** Told what went wrong with a kubelet. */
  readonly fail: (error: unknown) => void;
}

export function createFakeNodes({ transport, observer, namespace, directory, fail }: FakeNodesOptions): FakeNodes {
  const stream = createWriteStream(join(directory, "daemons.log"), { flags: "a" });
  const { log } = createLogger({ service: "config-daemon", level: "info", stream });
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  const endPods = observer.subscribe(({ after }) => {
    if (after?.kind !== pods.kind || !isOurs(after)) return;
    (after.metadata.deletionTimestamp === undefined ? runPod(after) : endPod(after)).catch(fail);
  });
  /** "I am well." */
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
    node?.stop.abort();
    await node?.ended;
  }

  return {
    async add(name) {
      const labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
      };
      const body: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
      await transport.request({ method: "POST", path: collectionPath(nodeType), body });
      await report(name);
      const end = new AbortController();
      const ended = runDaemon({
        ...{ transport, namespace, nodeName: name, maxPfs: 4, maxCacheAgeMs: 300_000, signal: end.signal },
        host: createFakeKernel({ nics: [mlx5("0000:3b:00.0")] }).host(),
        log: log.child({ node: name }),
        metrics: new Registry(),
        setNotReady: () => undefined,
      });
      running.set(name, { stop: end, ended });
    },
    async remove(name) {
      await stop(name);
      await unlessGone(transport.request({ method: "DELETE", path: objectPath(nodeType, { name }) }));
    },
    async [Symbol.asyncDispose]() {
      endPods();
      await Promise.all([...running.keys()].map(stop));
      await new Promise((resolve) => stream.end(resolve));
    },
  };
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, "NotFound", "Conflict")) throw error;
  }
}
