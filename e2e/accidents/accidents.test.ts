// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents of production clusters, one after the other, on a real API server with the operator as a process, three daemons on fake
 * kernels and the controllers of Kubernetes. checker.ts judges each of them in the same way.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareFaultTests, type PreparedFaultTests } from "../faults/campaign.ts";
import { startFaultCluster, type ClusterUsage } from "../faults/fault-cluster.ts";
import { imageFlags } from "../faults/scenarios/component-scenario.ts";
import { accidents, provide } from "./accidents.ts";
import { checkAccident, growth, missing, workers, type World } from "./checker.ts";

let prepared: PreparedFaultTests;
let world: World;
let before: ClusterUsage;

beforeAll(async () => {
  prepared = await prepareFaultTests();
  const flags = [...imageFlags, "--stale-node-state-cleanup-delay-minutes", "30"];
  const cluster = await startFaultCluster({ ...prepared, flags });
  world = { cluster, wish: { numVfs: 4 } };
  for (const worker of workers) await cluster.users.nodes.add(worker);
  await provide(world);
  before = await cluster.measure();
}, 600_000);

afterAll(async () => {
  await disposeOf(world.cluster, prepared);
}, 60_000);

describe("after the accident that", () => {
  it.each(accidents)(
    "$name, the cluster is as its users want it",
    async (accident) => {
      await provide(world);
      expect(await checkAccident(world, accident)).toEqual([]);
    },
    15 * 60_000,
  );
});

describe("the operator", () => {
  it("uses no more memory and descriptors after all accidents", async () => {
    await provide(world);
    expect(growth(before, await world.cluster.measure())).toEqual([]);
  }, 300_000);
});

describe("the checker", () => {
  it("names what is wrong in an empty cluster", () => {
    const found = missing([], world.wish);
    expect(found).toContain("worker-1 has no node state");
    expect(found).toContain("policy fast is not Ready");
  });
});
