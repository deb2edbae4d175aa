// SPDX-License-Identifier: Apache-2.0
/**
 * keepNodesReady updates the Ready condition of nodes that are only API objects, as kubelets do. Without updates the
 * controller manager marks a node as unreachable after a minute, and DaemonSets without a toleration get no pod on it
 * (seen with 1.36: node-startup-grace-period is 60 s).
 */
import { nodes } from "@switchyard/api";
import { objectPath, type Transport } from "@switchyard/kube";

/** The interval of the updates. After 50 s without an update, a node is unreachable. */
const intervalMs = 10_000;

/** Resolves when all nodes are ready. Disposing the result ends the updates. */
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
    for (const name of names) void beat(name).catch(() => undefined); // a failed update does not matter: the next one follows soon
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
