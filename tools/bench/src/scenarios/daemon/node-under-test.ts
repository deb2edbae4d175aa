// SPDX-License-Identifier: Apache-2.0
/**
 * NodeUnderTest is the node whose daemon is measured: its objects, changes of its spec as the operator makes them,
 * and the times of its statuses.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  nodes,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type AfxdpInterfaceSpec,
  type Bridges,
  type InterfaceSpec,
} from "@switchyard/api";
import { apiVersionOf, collectionPath, isRecord, objectPath, type ResourceType } from "@switchyard/kube";
import type { BenchCluster } from "../../cluster/bench-cluster.ts";
import { BenchError, until, type Run } from "../../harness/run.ts";
import type { Observed } from "../../harness/step.ts";

/** The measured daemon, on the fake kernel or in a guest. Disposing it ends the daemon and its host. */
export interface DaemonUnderTest extends Observed {
  readonly node: NodeUnderTest;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** Stops the process with SIGTERM, as a rollout does. */
  stop(): Promise<void>;
  /** The duration of each stop. */
  readonly stopSeconds: readonly number[];
  /** A text that changes when VFs are destroyed, even if others are created in their place. */
  vfIdentity(): Promise<string>;
  /** Makes the kernel take this time for each write of sriov_numvfs from now on. Absent on a real kernel. */
  slowDown?(ms: number): void;
  /** Interrupts the carrier of the first port, which has VFs. Absent on a host without carriers. */
  flapLink?(): Promise<void>;
  /** The end of its log. */
  logEnd(): string;
  /** The time of the kernel's first write after `sinceMs`; undefined on a host where it cannot be observed. */
  firstWriteMs(sinceMs: number): number | undefined;
}

export const nodeUnderTest = { name: "worker", namespace: "switchyard" } as const;

/** The kind whose spec is changed and whose status is watched. */
export type MeasuredKind = "sriov" | "afxdp";

/** An entry of spec.interfaces of either kind. */
export type NodeInterface = InterfaceSpec | AfxdpInterfaceSpec;

/** The fields of the status of either kind that are measured. */
export interface NodeStatus {
  readonly syncStatus?: string;
  readonly lastSyncError?: string;
  readonly observedGeneration?: number;
  readonly interfaces?: readonly { readonly pciAddress?: string; readonly owned?: boolean }[];
}

/** A change of the node's spec. */
export interface Order {
  readonly generation: number;
  /** The time before the change was sent. */
  readonly sentMs: number;
}

export interface NodeUnderTest {
  /** Sets spec.interfaces and spec.bridges of the node state, and spec.unselected to the PFs that the daemon has configured and that are left out. */
  order(interfaces: readonly NodeInterface[], bridges?: Bridges): Promise<Order>;
  /** The time of the first status after `order` that belongs to it and satisfies `isIt`. */
  when(what: string, order: Order, isIt: (status: NodeStatus) => boolean): Promise<number>;
  /** Removes the status, as if the daemon had never run. No daemon may run. */
  clearStatus(): Promise<void>;
  /** The last status; empty without one. */
  status(): NodeStatus;
  /** All statuses since `sinceMs`, with their times. */
  seenSince(sinceMs: number): readonly SeenStatus[];
}

export interface SeenStatus {
  readonly atMs: number;
  readonly status: NodeStatus;
}

const types: Readonly<Record<MeasuredKind, ResourceType>> = {
  sriov: sriovNetworkNodeStates,
  afxdp: afxdpNetworkNodeStates,
};

/** Drains are off, because they would be measured with the daemon. The status is watched until the end of the run. */
export async function createNodeUnderTest(
  run: Run,
  { admin }: BenchCluster,
  kind: MeasuredKind = "sriov",
): Promise<NodeUnderTest> {
  const { name, namespace } = nodeUnderTest;
  const type = types[kind];
  const path = objectPath(type, nodeUnderTest);
  const create = (of: ResourceType, metadata: { readonly name: string; readonly labels?: object }, spec?: object) =>
    admin.create(of, {
      apiVersion: apiVersionOf(of),
      kind: of.kind,
      metadata: { ...metadata, ...(of.namespaced && { namespace }) },
      ...(spec && { spec }),
    });
  await create(nodes, { name, labels: { "kubernetes.io/os": "linux" } });
  await create(sriovOperatorConfigs, { name: operatorConfigName }, { disableDrain: true });
  if (kind === "afxdp") {
    await create(afxdpOperatorConfigs, { name: operatorConfigName }, { disableDrain: true });
    await create(sriovNetworkNodeStates, { name }, {}); // without it, the daemon is not ready
  }

  const seen: SeenStatus[] = [];
  const order = async (interfaces: readonly NodeInterface[], bridges?: Bridges): Promise<Order> => {
    const sentMs = performance.now();
    const unselected = ownedExcept(interfaces, seen.at(-1)?.status ?? {});
    const answer: unknown = JSON.parse(
      await admin.apply("bench", type, {
        apiVersion: apiVersionOf(type),
        kind: type.kind,
        metadata: nodeUnderTest,
        spec: { interfaces, unselected, ...(bridges !== undefined && { bridges }) },
      }),
    );
    return { generation: generationOf(answer), sentMs };
  };
  await order([]);

  const end = new AbortController();
  // Two hours, which is longer than any run.
  const watchPath = `${collectionPath(type, namespace)}?watch=true&timeoutSeconds=7200`;
  const followed = follow(await admin.watch({ path: watchPath }, end.signal), type, seen).catch((error: unknown) => {
    if (!end.signal.aborted) run.fail(error);
  });
  run.use({
    async [Symbol.asyncDispose]() {
      end.abort();
      await followed;
    },
  });
  return {
    order,
    async when(what, { generation, sentMs }, isIt) {
      const isAnswer = ({ atMs, status }: SeenStatus) =>
        atMs >= sentMs && (status.observedGeneration ?? 0) >= generation && isIt(status);
      await until(what, () => seen.some(isAnswer), { withinMs: 180_000, signal: run.signal, everyMs: 10 });
      return seen.find(isAnswer)?.atMs ?? Number.NaN;
    },
    async clearStatus() {
      await admin.merge(`${path}/status`, { status: null });
      const isClear = () => seen.at(-1)?.status.interfaces === undefined;
      await until("the node state without a status", isClear, { withinMs: 10_000, signal: run.signal, everyMs: 10 });
    },
    status: () => seen.at(-1)?.status ?? {},
    seenSince: (sinceMs) => seen.filter(({ atMs }) => atMs >= sinceMs),
  };
}

/** Returns the addresses of the PFs that the daemon has configured and that are not in `interfaces`, as the operator lists them. */
function ownedExcept(interfaces: readonly NodeInterface[], { interfaces: found = [] }: NodeStatus): readonly string[] {
  const wanted = new Set<string | undefined>(interfaces.map(({ pciAddress }) => pciAddress));
  return found.flatMap(({ owned, pciAddress }) => {
    return owned === true && pciAddress !== undefined && !wanted.has(pciAddress) ? [pciAddress] : [];
  });
}

async function follow(lines: AsyncIterable<string>, type: ResourceType, seen: SeenStatus[]): Promise<void> {
  for await (const line of lines) {
    const event: unknown = JSON.parse(line);
    const object = isRecord(event) ? event["object"] : undefined;
    if (!isNodeState(object, type))
      throw new BenchError("watch", `unexpected event in the watch of the node state: ${line.slice(0, 300)}`);
    seen.push({ atMs: performance.now(), status: object.status ?? {} });
  }
  throw new BenchError("watch", "the watch of the node state ended");
}

/** Checks the metadata only, because the API server has validated the object against the schema. */
function isNodeState(object: unknown, type: ResourceType): object is { readonly status?: NodeStatus } {
  return isRecord(object) && object["apiVersion"] === apiVersionOf(type) && object["kind"] === type.kind;
}

function generationOf(answer: unknown): number {
  const metadata = isRecord(answer) ? answer["metadata"] : undefined;
  if (isRecord(metadata) && typeof metadata["generation"] === "number") return metadata["generation"];
  throw new BenchError("refused", "the answer to a change of the spec has no generation");
}
