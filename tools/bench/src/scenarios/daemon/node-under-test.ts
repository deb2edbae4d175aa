// SPDX-License-Identifier: Apache-2.0
/**
 * NodeUnderTest is the node whose daemon is measured: its objects, changes of its spec as the operator makes them,
 * and the times of its statuses.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  nodes,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type AfxdpInterfaceSpec,
  type Bridges,
  type InterfaceSpec,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import type { BenchCluster } from "../../cluster/bench-cluster.ts";
import { configMetadata, operatorNamespace } from "../../cluster/nodes.ts";
import type { Run } from "../../harness/run.ts";
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

export const nodeUnderTest = { name: "worker", namespace: operatorNamespace };

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

export type NodeUnderTest = Awaited<ReturnType<typeof createNodeUnderTest>>;

export interface SeenStatus {
  readonly atMs: number;
  readonly status: NodeStatus;
}

const types = { sriov: sriovNetworkNodeStates, afxdp: afxdpNetworkNodeStates };

/** Drains are off, because they would be measured with the daemon. The status is watched until the end of the run. */
export async function createNodeUnderTest({ signal }: Run, cluster: BenchCluster, kind: MeasuredKind = "sriov") {
  const { admin } = cluster;
  const type = types[kind];
  const drainless = { metadata: configMetadata, spec: { disableDrain: true } };
  await admin.create(nodes, { metadata: { name: nodeUnderTest.name, labels: { "kubernetes.io/os": "linux" } } });
  await admin.create(sriovOperatorConfigs, drainless);
  if (kind === "afxdp") {
    await admin.create(afxdpOperatorConfigs, drainless);
    await admin.create(sriovNetworkNodeStates, { metadata: nodeUnderTest, spec: {} }); // without it, the daemon is not ready
  }

  const seen: SeenStatus[] = [];
  const lastStatus = (): NodeStatus => seen.at(-1)?.status ?? {};
  const order = async (interfaces: readonly NodeInterface[], bridges?: Bridges): Promise<Order> => {
    const sentMs = performance.now();
    const unselected = ownedExcept(interfaces, lastStatus());
    const spec = { interfaces, unselected, ...(bridges !== undefined && { bridges }) };
    const answer = await admin.apply("bench", type, { metadata: nodeUnderTest, spec });
    return { generation: (JSON.parse(answer) as SriovNetworkNodeState).metadata.generation ?? Number.NaN, sentMs };
  };
  await order([]);
  const project = ({ status = {} }: { readonly status?: unknown }) => status as NodeStatus; // validated by the API server
  await cluster.watch(type, project, (status) => {
    seen.push({ atMs: performance.now(), status });
  });

  return {
    /**
     * Sets spec.interfaces and spec.bridges of the node state, and spec.unselected to the PFs that the daemon has configured and that
     * are left out.
     */
    order,
    /** The time of the first status after `order` that belongs to it and satisfies `isIt`. */
    when(what: string, { generation, sentMs }: Order, isIt: (status: NodeStatus) => boolean): Promise<number> {
      const find = () =>
        seen.find(({ atMs, status }) => {
          return atMs >= sentMs && (status.observedGeneration ?? 0) >= generation && isIt(status);
        })?.atMs;
      return eventually(what, find, { withinMs: 180_000, everyMs: 10, signal });
    },
    /** Removes the status, as if the daemon had never run. No daemon may run. */
    async clearStatus() {
      await admin.merge(objectPath(type, nodeUnderTest, "status"), { status: null });
      const isClear = () => lastStatus().interfaces === undefined;
      await eventually("the node state has no status", isClear, { withinMs: 10_000, everyMs: 10, signal });
    },
    /** The last status; empty without one. */
    status: lastStatus,
    /** All statuses since `sinceMs`, with their times. */
    seenSince: (sinceMs: number): readonly SeenStatus[] => seen.filter(({ atMs }) => atMs >= sinceMs),
  };
}

/** Returns the addresses of the PFs that the daemon has configured and that are not in `interfaces`, as the operator lists them. */
function ownedExcept(interfaces: readonly NodeInterface[], { interfaces: found = [] }: NodeStatus): readonly string[] {
  const wanted = new Set<string | undefined>(interfaces.map(({ pciAddress }) => pciAddress));
  return found.flatMap(({ owned, pciAddress }) => {
    return owned === true && pciAddress !== undefined && !wanted.has(pciAddress) ? [pciAddress] : [];
  });
}
