// SPDX-License-Identifier: Apache-2.0
/**
 * The one node whose daemon is measured: its objects, orders to it as the operator would give them, and what its status
 * said when.
 * Usage: `await using node = await createNodeUnderTest(cluster, run); const order = await node.order([]); await node.when(…)`
 */
import {
  apiVersion,
  nodes,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type InterfaceSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { BenchError } from "../harness/bench-error.ts";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { metadataOnly, type PlainClient } from "../harness/plain-client.ts";
import { until } from "../harness/until.ts";
import type { Run } from "../harness/run-control.ts";

export const nodeUnderTest = { name: "worker", namespace: "switchyard" } as const;

/** What was ordered when. */
export interface Order {
  readonly generation: number;
  /** Before it was sent. */
  readonly sentMs: number;
}

export interface NodeUnderTest extends AsyncDisposable {
  /** Gives the node this spec. */
  order(interfaces: readonly InterfaceSpec[]): Promise<Order>;
  /** When a status was first seen, since the order, that is an answer to it and satisfies `isIt`. */
  when(what: string, order: Order, isIt: (status: SriovNetworkNodeStateStatus) => boolean): Promise<number>;
  /** As seen last. */
  status(): SriovNetworkNodeStateStatus;
  /** All statuses that were seen since `sinceMs`, with their times. */
  seenSince(sinceMs: number): readonly SeenStatus[];
}

export interface SeenStatus {
  readonly atMs: number;
  readonly status: SriovNetworkNodeStateStatus;
}

/** Drains are off: they would be measured with the daemon. */
export async function createNodeUnderTest({ admin }: BenchCluster, run: Run): Promise<NodeUnderTest> {
  const { name, namespace } = nodeUnderTest;
  const path = objectPath(sriovNetworkNodeStates, nodeUnderTest);
  await admin.request({
    method: "POST",
    path: collectionPath(nodes),
    body: { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/os": "linux" } } },
  });
  await admin.request({
    method: "POST",
    path: collectionPath(sriovOperatorConfigs, namespace),
    body: {
      apiVersion,
      kind: "SriovOperatorConfig",
      metadata: { name: operatorConfigName },
      spec: { disableDrain: true },
    },
  });
  const order = async (interfaces: readonly InterfaceSpec[]): Promise<Order> => {
    const sentMs = performance.now();
    const answer: unknown = JSON.parse(
      await admin.request({
        method: "PATCH",
        path: `${path}?fieldManager=bench&force=true`,
        contentType: "application/apply-patch+yaml",
        accept: metadataOnly,
        body: { apiVersion, kind: "SriovNetworkNodeState", metadata: nodeUnderTest, spec: { interfaces } },
      }),
    );
    return { generation: generationOf(answer), sentMs };
  };
  await order([]);

  const seen: SeenStatus[] = [];
  const end = new AbortController();
  const lines = await admin.watch({ path: watchPath }, end.signal);
  const followed = follow(lines, seen).catch((error: unknown) => {
    if (!end.signal.aborted) run.fail(error);
  });
  return {
    order,
    async when(what, { generation, sentMs }, isIt) {
      const isAnswer = ({ atMs, status }: SeenStatus) =>
        atMs >= sentMs && (status.observedGeneration ?? 0) >= generation && isIt(status);
      await until(what, () => seen.some(isAnswer), { withinMs: 180_000, signal: run.signal, everyMs: 10 });
      return seen.find(isAnswer)?.atMs ?? Number.NaN;
    },
    status: () => seen.at(-1)?.status ?? {},
    seenSince: (sinceMs) => seen.filter(({ atMs }) => atMs >= sinceMs),
    async [Symbol.asyncDispose]() {
      end.abort();
      await followed;
    },
  };
}

// An hour is longer than any run.
const watchPath = `${collectionPath(sriovNetworkNodeStates, nodeUnderTest.namespace)}?watch=true&timeoutSeconds=7200`;

async function follow(lines: Awaited<ReturnType<PlainClient["watch"]>>, seen: SeenStatus[]): Promise<void> {
  for await (const line of lines) {
    const event: unknown = JSON.parse(line);
    const object = isRecord(event) ? event["object"] : undefined;
    if (!isNodeState(object)) throw new BenchError("watch", `the watch of the node state says ${line.slice(0, 300)}`);
    if (object.status !== undefined) seen.push({ atMs: performance.now(), status: object.status });
  }
  throw new BenchError("watch", "the watch of the node state ended");
}

/** The API server has checked it against the kind's schema. */
function isNodeState(object: unknown): object is { readonly status?: SriovNetworkNodeStateStatus } {
  return isRecord(object) && object["apiVersion"] === apiVersion && object["kind"] === sriovNetworkNodeStates.kind;
}

function generationOf(answer: unknown): number {
  const metadata = isRecord(answer) ? answer["metadata"] : undefined;
  if (isRecord(metadata) && typeof metadata["generation"] === "number") return metadata["generation"];
  throw new BenchError("refused", "the answer to an order has no generation");
}
