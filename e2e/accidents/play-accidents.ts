// SPDX-License-Identifier: Apache-2.0
/**
 * playAccidents declares the tests of a list of accidents, which happen one after the other. The API server, the controllers of
 * Kubernetes and the operator are real processes, and three daemons have fake kernels. checker.ts judges each of them in the same way.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareFaultTests, type PreparedFaultTests } from "../faults/campaign.ts";
import { startFaultCluster, type ClusterUsage } from "../faults/fault-cluster.ts";
import { imageFlags } from "../faults/scenarios/component-scenario.ts";
import { provide } from "./accidents.ts";
import { checkAccident, growth, workers, type Accident, type World } from "./checker.ts";

/** `programOf` returns the path of the program that runs as the operator, given that of the operator's bundle. */
export function playAccidents(
  accidents: readonly Accident[],
  programOf: (main: string) => Promise<string> = (main) => Promise.resolve(main),
): void {
  let prepared: PreparedFaultTests;
  let world: World;
  let before: ClusterUsage;

  beforeAll(async () => {
    prepared = await prepareFaultTests();
    const { binaries } = prepared;
    const main = await programOf(prepared.main);
    const flags = [...imageFlags, "--stale-node-state-cleanup-delay-minutes", "30"];
    const cluster = await startFaultCluster({ binaries, main, flags });
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
      // Connections of the last accident are closed when they have not been used for a minute.
      let found = growth(before, await world.cluster.measure());
      for (let tries = 0; tries < 30 && found.length > 0; tries++) {
        await delay(5_000);
        found = growth(before, await world.cluster.measure());
      }
      expect(found).toEqual([]);
    }, 300_000);
  });
}
