// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkPoolConfig, type SriovNetworkPoolConfigSpec } from "@switchyard/api";
import { mergePolicies } from "@switchyard/policy";
import { createPoolStatusReconciler } from "./pool-status-reconciler.ts";
import { createCluster, createKeepingWriter, nic } from "../testing/cluster.ts";

const never = new AbortController().signal;
const everyNode = { nodeSelector: { matchLabels: { "node-role.kubernetes.io/worker": "" } } };

interface Scene {
  readonly config?: boolean;
  /** Applies to each pool. */
  readonly spec?: SriovNetworkPoolConfigSpec;
  /** Since when worker-1 is drained, if it is. */
  readonly drainedSince?: string;
}

const noon = "2026-11-20T12:00:00Z";

/** worker-1 is discovered and configured, worker-2 is not discovered yet. */
async function statusOf(pools: readonly string[], { config = true, spec = everyNode, drainedSince }: Scene = {}) {
  const cluster = createCluster();
  if (config) cluster.addConfig();
  for (const name of pools) cluster.addPool(name, spec);
  for (const name of ["worker-1", "worker-2"]) {
    cluster.addNode(name);
    const interfaces = name === "worker-1" ? [nic()] : [];
    const isDrained = drainedSince !== undefined && name === "worker-1";
    const drained = { type: "DrainComplete", status: "True", reason: "AllPodsGone", message: "" } as const;
    const conditions = isDrained ? [{ ...drained, lastTransitionTime: drainedSince }] : [];
    const notes = isDrained ? { [annotations.currentState]: "DrainComplete" } : {};
    cluster.setState(name, { spec: {}, status: { interfaces, conditions } }, notes);
    const rules = cluster.rules();
    const node = cluster.nodes.get(name);
    if (rules === undefined || node === undefined) continue;
    cluster.mergeResults.set(name, { ...mergePolicies(node, interfaces, rules), interfaces, generations: new Map() });
  }
  const kept = createKeepingWriter<SriovNetworkPoolConfig>();
  const told: string[] = [];
  const messages: string[] = [];
  const reconcile = createPoolStatusReconciler({
    ...cluster,
    writer: kept.writer,
    recordTransition: ({ metadata }, { state, reason, message }) => {
      told.push(`${metadata.name} ${state} ${reason}`);
      messages.push(message);
    },
    now: () => new Date(noon),
  });
  const requeues = [];
  for (const name of pools) requeues.push(await reconcile(name, never));
  const status = kept.statuses.get(pools[0] ?? "");
  const counts = [status?.matchedNodeCount, status?.readyNodeCount];
  return { told, messages, counts, drainingNodes: status?.drainingNodes, requeue: requeues[0] };
}

describe("createPoolStatusReconciler", () => {
  it("counts the nodes of the pool and those that are configured", async () => {
    expect(await statusOf(["gpu"])).toEqual({
      told: ["gpu progressing Configuring"],
      messages: ["1 of 2 nodes configured"],
      counts: [2, 1],
      drainingNodes: undefined,
      requeue: undefined,
    });
  });

  it("says that an empty or absent nodeSelector selects all nodes", async () => {
    const all = "1 of 2 nodes configured; spec.nodeSelector is empty: all 2 nodes of the node set are selected";
    expect((await statusOf(["gpu"], { spec: {} })).messages).toEqual([all]);
    expect((await statusOf(["gpu"], { spec: { nodeSelector: { matchLabels: {} } } })).messages).toEqual([all]);
  });

  it("lists the nodes that hold slots, and requeues for the time when one of them stalls", async () => {
    const drainedSince = "2026-11-20T11:58:00Z";
    expect(await statusOf(["gpu"], { drainedSince })).toMatchObject({
      told: ["gpu progressing Configuring"],
      drainingNodes: [{ node: "worker-1", state: "DrainComplete", since: drainedSince }],
      requeue: { afterMs: 3 * 60_000 },
    });
  });

  it("is degraded if the daemon of a node with a slot stalls, and names the node", async () => {
    const drainedSince = "2026-11-20T11:55:00Z";
    const { told, messages, drainingNodes, requeue } = await statusOf(["gpu"], { drainedSince });
    expect(told).toEqual(["gpu degraded DaemonStalled"]);
    expect(messages).toEqual([
      `node worker-1 has been drained since ${drainedSince} and keeps its slot: ` +
        "its config daemon has reported nothing since then",
    ]);
    expect([drainingNodes?.length, requeue]).toEqual([1, undefined]);
  });

  it("reports an overlap on both pools, with the node and the consequence (sriov-operator.md M-44)", async () => {
    const { told, messages } = await statusOf(["gpu", "storage"]);
    expect(told).toEqual(["gpu degraded Overlap", "storage degraded Overlap"]);
    const says = (other: string) =>
      `spec.nodeSelector: node "worker-1" is also selected by "${other}": ` +
      "the maxUnavailable of each pool applies to it; only one pool should select it; 1 more node";
    expect(messages).toEqual([says("storage"), says("gpu")]);
  });

  it("reports an invalid pool", async () => {
    const { told, messages } = await statusOf(["gpu"], { spec: { maxUnavailable: "some" } });
    expect([told, messages]).toEqual([
      ["gpu degraded Invalid"],
      [expect.stringMatching(/^spec.maxUnavailable: "some" is not a number of nodes: use a whole number/)],
    ]);
  });

  it("reports that nothing is managed without a SriovOperatorConfig", async () => {
    expect(await statusOf(["gpu"], { config: false })).toMatchObject({
      told: ["gpu idle NoOperatorConfig"],
      counts: [0, 0],
    });
  });
});
