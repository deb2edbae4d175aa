// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkPoolConfig, SriovNetworkPoolConfigSpec } from "@switchyard/api";
import { mergePolicies } from "@switchyard/policy";
import { createPoolStatusReconciler } from "./pool-status-reconciler.ts";
import { createCluster, createKeepingWriter, nic } from "./testing/cluster.ts";

const never = new AbortController().signal;
const everyNode = { nodeSelector: {} };

interface Scene {
  readonly config?: boolean;
  /** Of each of the pools. */
  readonly spec?: SriovNetworkPoolConfigSpec;
}

/** worker-1, discovered and with nothing to do, and worker-2, not discovered yet. */
async function statusOf(pools: readonly string[], { config = true, spec = everyNode }: Scene = {}) {
  const cluster = createCluster();
  if (config) cluster.addConfig();
  for (const name of pools) cluster.addPool(name, spec);
  for (const name of ["worker-1", "worker-2"]) {
    cluster.addNode(name);
    const interfaces = name === "worker-1" ? [nic()] : [];
    cluster.setState(name, { spec: {}, status: { interfaces } });
    const rules = cluster.rules();
    const node = cluster.nodes.get(name);
    if (rules === undefined || node === undefined) continue;
    cluster.verdicts.set(name, { ...mergePolicies(node, interfaces, rules), interfaces, generations: new Map() });
  }
  const kept = createKeepingWriter<SriovNetworkPoolConfig>();
  const told: string[] = [];
  const messages: string[] = [];
  const reconcile = createPoolStatusReconciler({
    ...cluster,
    writer: kept.writer,
    tell: ({ metadata }, { state, reason, message }) => {
      told.push(`${metadata.name} ${state} ${reason}`);
      messages.push(message);
    },
    now: () => new Date(0),
  });
  for (const name of pools) expect(await reconcile(name, never)).toBeUndefined();
  const status = kept.statuses.get(pools[0] ?? "");
  return { told, messages, counts: [status?.matchedNodeCount, status?.readyNodeCount] };
}

describe("the pool status reconciler", () => {
  it("counts the pool's nodes and those that are configured", async () => {
    expect(await statusOf(["gpu"])).toMatchObject({ told: ["gpu progressing Configuring"], counts: [2, 1] });
  });

  it("says on each of two pools that they overlap, where, and what holds there (M-44)", async () => {
    const { told, messages } = await statusOf(["gpu", "storage"]);
    expect(told).toEqual(["gpu degraded Overlap", "storage degraded Overlap"]);
    const says = (other: string) =>
      `spec.nodeSelector: node "worker-1" is also selected by "${other}": ` +
      "the maxUnavailable of each holds for it; let one pool select it (and so with 1 more)";
    expect(messages).toEqual([says("storage"), says("gpu")]);
  });

  it("says what is wrong with a pool by itself", async () => {
    const { told, messages } = await statusOf(["gpu"], { spec: { maxUnavailable: "some" } });
    expect([told, messages]).toEqual([
      ["gpu degraded Invalid"],
      [expect.stringMatching(/^spec.maxUnavailable: "some" is no number of nodes: write a whole number/)],
    ]);
  });

  it("says that nothing is managed without a SriovOperatorConfig", async () => {
    expect(await statusOf(["gpu"], { config: false })).toMatchObject({
      told: ["gpu idle NoOperatorConfig"],
      counts: [0, 0],
    });
  });
});
