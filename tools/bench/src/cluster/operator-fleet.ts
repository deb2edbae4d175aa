// SPDX-License-Identifier: Apache-2.0
/**
 * createOperatorFleet prepares the operator as a measured service, with a simulated fleet: Node objects, and node states whose
 * statuses the harness writes in place of daemons. Each node state exists twice: the operator writes one, and the plain client the
 * other.
 */
import { nodes as nodeType, sriovOperatorConfigs, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { collectionPath, isRecord, objectPath, type ResourceType } from "@switchyard/kube";
import { minSemiSpaceFlag } from "@switchyard/service/memory";
import { eventually } from "@switchyard/testing";
import { count, sharedOptions } from "../harness/options.ts";
import { buildApp } from "../harness/service.ts";
import { forEachIndex, type Run } from "../harness/run.ts";
import { startBenchCluster, type BenchClusterOptions } from "./bench-cluster.ts";
import type { Step, StepBench } from "./measure-step.ts";
import { configMetadata, nodeName, nodeObject, operatorConfigSpec, operatorNamespace } from "./nodes.ts";

interface FleetOptions extends Pick<BenchClusterOptions, "crds"> {
  /** The kind of the node states. */
  readonly type: ResourceType;
  /** Resources whose writes are timed and repeated; the node states without their status by default. */
  readonly timed?: readonly string[];
  readonly nodes: number;
  /** Number of connections of the plain client. */
  readonly connections: number;
  readonly cpuProf?: string | undefined;
  /** Additional flags of the operator. */
  readonly flags?: readonly string[];
}

export interface OperatorFleet extends StepBench {
  readonly size: number;
  /** Calls `work` with the index of each node. */
  forAll(work: (index: number) => Promise<unknown>): Promise<void>;
  /** Path of a node state. */
  path(namespace: string, index: number): string;
  /** Writes the status of all node states of a namespace, as daemons do. */
  report(namespace: string, statusOf: (index: number) => object): Promise<void>;
  /** A step that starts a new process of the operator. */
  readonly starts: Pick<Step, "act" | "startsProcess">;
}

/** The operator does not deploy a component without an image. No kubelet is running, so no image is pulled. */
const images = [
  ...["config-daemon", "device-plugin-config", "device-plugin", "webhook", "injector", "metrics-exporter"],
  ...["kube-rbac-proxy", "sriov-cni", "ib-sriov-cni", "ovs-cni", "rdma-cni", "accelerated-bridge-cni"],
];

/** The options of a scenario with a fleet. */
export const fleetOptions = {
  nodes: count("number of nodes", { standard: 1000, quick: 20, range: [1, 65_536] }),
  connections: sharedOptions.connections,
  cpuProf: sharedOptions.cpuProf,
} as const;

/** Creates the Nodes and a SriovOperatorConfig. The operator does not run yet. */
export async function createOperatorFleet(
  run: Run,
  { type, timed = [type.plural], nodes: size, connections, cpuProf, flags = [], crds = [] }: FleetOptions,
): Promise<OperatorFleet> {
  const { progress, signal } = run;
  const cluster = await startBenchCluster(run, { crds });
  const { admin } = cluster;
  progress.at("building the operator");
  const service = await cluster.service("operator", {
    script: await buildApp("operator"),
    // As in its container. Without them the program restarts itself (libs/service/src/memory.ts), which takes 50 ms.
    nodeFlags: [minSemiSpaceFlag],
    env: { MALLOC_ARENA_MAX: "1" },
    cpuProf,
    args: [
      ...["--namespace", operatorNamespace],
      ...images.flatMap((name) => [`--${name}-image`, `registry.example/${name}:1`]),
      ...flags,
    ],
  });
  await forEachIndex(run, { what: `creating ${size} nodes`, count: size }, (index) =>
    admin.create(nodeType, nodeObject(index)),
  );
  await admin.create(sriovOperatorConfigs, { metadata: configMetadata, spec: operatorConfigSpec });

  const forAll = (work: (index: number) => Promise<unknown>) =>
    forEachIndex(run, { count: size, limit: connections }, work);
  return {
    run,
    cluster,
    service,
    plain: await cluster.plainUser(connections),
    isCauseTimed: true,
    isTimed: ({ objectRef: { resource = "", subresource } = {} }) =>
      timed.includes(subresource === undefined ? resource : `${resource}/${subresource}`),
    quietMs: { done: 700, without: 3_000 },
    settle: () => untilCaughtUp(),
    size,
    forAll,
    path: (namespace, index) => objectPath(type, { name: nodeName(index), namespace }),
    report: (namespace, statusOf) =>
      forAll((index) => {
        const state = { metadata: { name: nodeName(index), namespace }, status: statusOf(index) };
        return admin.apply("config-daemon", type, state, "status");
      }),
    starts: { act: () => service.start(signal), startsProcess: true },
  };

  /** Waits for the server's watch cache, which is tens of seconds behind after many large writes: a list waits for at most 3 s. */
  async function untilCaughtUp(): Promise<void> {
    const list = collectionPath(type, "default"); // which has none
    const { metadata } = (await admin.get(list)) as { readonly metadata: { readonly resourceVersion: string } };
    const query = `?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    await eventually("the watch cache is up to date", () => admin.get(list + query), { withinMs: 300_000, signal });
  }
}

/** Whether the last writes gave all node states the same spec, which is the expected one. */
export function allHave(
  size: number,
  isExpected: (spec: SriovNetworkNodeStateSpec) => boolean,
): Required<Step>["isDone"] {
  return (writes) => {
    const specs = new Map(
      writes.map(({ objectRef, requestObject: state }) => [objectRef?.name, isRecord(state) ? state["spec"] : {}]),
    );
    if (specs.size < size) return `${specs.size} of ${size} node states are written`;
    const [first = "{}", ...others] = new Set([...specs.values()].map((spec) => JSON.stringify(spec ?? {})));
    if (others.length > 0) return `the node states have ${others.length + 1} different specs`;
    return isExpected(JSON.parse(first) as SriovNetworkNodeStateSpec) ? true : `all node states have the spec ${first}`;
  };
}
