// SPDX-License-Identifier: Apache-2.0
/**
 * What kubelets do for nodes that are only API objects: say that they are ready, again and again. Of a node that never says so
 * the controller manager thinks after a minute that it is unreachable, and a DaemonSet that does not tolerate that gets no pod
 * on it (seen with 1.36: a node-startup-grace-period of 60 s).
 * Usage: `await using heartbeats = await keepNodesReady(transport, ["worker-1"]);`
 */
import { nodes } from "@switchyard/api";
import { objectPath, type Transport } from "@switchyard/kube";

/** After 50 s without any, a node is unreachable. */
const intervalMs = 10_000;

/** Resolves when all are ready; disposing it ends that. */
export async function keepNodesReady(transport: Transport, names: readonly string[]): Promise<AsyncDisposable> {
  const end = new AbortController();
  const beat = (name: string) =>
    transport.request({
      method: "PATCH",
      path: objectPath(nodes, { name }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { conditions: [readyCondition()] } },
      signal: end.signal,
    });

  await Promise.all(names.map(beat));
  const timer = setInterval(() => {
    for (const name of names) void beat(name).catch(() => undefined); // the next one makes up for it
  }, intervalMs);
  return {
    [Symbol.asyncDispose]() {
      clearInterval(timer);
      end.abort();
      return Promise.resolve();
    },
  };
}

function readyCondition() {
  return { type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime: new Date().toISOString() };
}
