// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { mergePolicies } from "@switchyard/policy";
import { createPoolStatusReconciler } from "./pool-status-reconciler.ts";
import { createCluster, createKeepingWriter, nic } from "./testing/cluster.ts";

const never = new AbortController().signal;
const everyNode = { nodeSelector: {} };

/** worker-1, discovered and with nothing to do, and worker-2, not discovered yet. */
async function statusOf(pools: readonly string[], config = true) {
  const cluster = createCluster();
  if (config) cluster.addConfig();
  for (const name of pools) cluster.addPool(name, everyNode);
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
  const reconcile = createPoolStatusReconciler({
    ...cluster,
    writer: kept.writer,
    tell: ({ metadata }, { state, reason }) => void told.push(`${metadata.name} ${state} ${reason}`),
    now: () => new Date(0),
  });
  for (const name of pools) expect(await reconcile(name, never)).toBeUndefined();
  const status = kept.statuses.get(pools[0] ?? "");
  return { told, counts: [status?.matchedNodeCount, status?.readyNodeCount] };
}

describe("the pool status reconciler", () => {
  it("counts the pool's nodes and those that are configured", async () => {
    expect(await statusOf(["gpu"])).toEqual({ told: ["gpu progressing Configuring"], counts: [2, 1] });
  });

  it("says on each of two pools that they overlap (M-44)", async () => {
    const { told } = await statusOf(["gpu", "storage"]);
    expect(told).toEqual(["gpu degraded Overlap", "storage degraded Overlap"]);
  });

  it("says that nothing is managed without a SriovOperatorConfig", async () => {
    expect(await statusOf(["gpu"], false)).toEqual({ told: ["gpu idle NoOperatorConfig"], counts: [0, 0] });
  });
});
