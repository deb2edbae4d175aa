// SPDX-License-Identifier: Apache-2.0
/**
 * NodeUnderTest is the node whose daemon is measured: its objects, changes of its spec as the operator makes them,
 * and the times of its statuses.
 * Usage: `await using node = await createNodeUnderTest(cluster, run); const order = await node.order([])`
 */
import {
  apiVersion,
  nodes,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type Bridges,
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

/** A change of the node's spec. */
export interface Order {
  readonly generation: number;
  /** The time before the change was sent. */
  readonly sentMs: number;
}

export interface NodeUnderTest extends AsyncDisposable {
  /** Sets spec.interfaces and spec.bridges of the node state, and spec.unselected to the PFs that the daemon has configured and that are left out. */
  order(interfaces: readonly InterfaceSpec[], bridges?: Bridges): Promise<Order>;
  /** The time of the first status after `order` that belongs to it and satisfies `isIt`. */
  when(what: string, order: Order, isIt: (status: SriovNetworkNodeStateStatus) => boolean): Promise<number>;
  /** The last status. */
  status(): SriovNetworkNodeStateStatus;
  /** All statuses since `sinceMs`, with their times. */
  seenSince(sinceMs: number): readonly SeenStatus[];
}

export interface SeenStatus {
  readonly atMs: number;
  readonly status: SriovNetworkNodeStateStatus;
}

/** Drains are off, because they would be measured with the daemon. */
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
  const seen: SeenStatus[] = [];
  const order = async (interfaces: readonly InterfaceSpec[], bridges?: Bridges): Promise<Order> => {
    const sentMs = performance.now();
    const answer: unknown = JSON.parse(
      await admin.request({
        method: "PATCH",
        path: `${path}?fieldManager=bench&force=true`,
        contentType: "application/apply-patch+yaml",
        accept: metadataOnly,
        body: {
          apiVersion,
          kind: "SriovNetworkNodeState",
          metadata: nodeUnderTest,
          spec: {
            ...{ interfaces, unselected: ownedExcept(interfaces, seen.at(-1)?.status ?? {}) },
            ...(bridges !== undefined && { bridges }),
          },
        },
      }),
    );
    return { generation: generationOf(answer), sentMs };
  };
  await order([]);

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

/** Returns the addresses of the PFs that the daemon has configured and that are not in `interfaces`, as the operator lists them. */
function ownedExcept(
  interfaces: readonly InterfaceSpec[],
  { interfaces: found = [] }: SriovNetworkNodeStateStatus,
): readonly string[] {
  const wanted = new Set(interfaces.map(({ pciAddress }) => pciAddress));
  return found.filter((pf) => pf.owned === true && !wanted.has(pf.pciAddress)).map(({ pciAddress }) => pciAddress);
}

// An hour, which is longer than any run.
const watchPath = `${collectionPath(sriovNetworkNodeStates, nodeUnderTest.namespace)}?watch=true&timeoutSeconds=7200`;

async function follow(lines: Awaited<ReturnType<PlainClient["watch"]>>, seen: SeenStatus[]): Promise<void> {
  for await (const line of lines) {
    const event: unknown = JSON.parse(line);
    const object = isRecord(event) ? event["object"] : undefined;
    if (!isNodeState(object))
      throw new BenchError("watch", `unexpected event in the watch of the node state: ${line.slice(0, 300)}`);
    if (object.status !== undefined) seen.push({ atMs: performance.now(), status: object.status });
  }
  throw new BenchError("watch", "the watch of the node state ended");
}

/** Checks the metadata only, because the API server has validated the object against the schema. */
function isNodeState(object: unknown): object is { readonly status?: SriovNetworkNodeStateStatus } {
  return isRecord(object) && object["apiVersion"] === apiVersion && object["kind"] === sriovNetworkNodeStates.kind;
}

function generationOf(answer: unknown): number {
  const metadata = isRecord(answer) ? answer["metadata"] : undefined;
  if (isRecord(metadata) && typeof metadata["generation"] === "number") return metadata["generation"];
  throw new BenchError("refused", "the answer to a change of the spec has no generation");
}
