// SPDX-License-Identifier: Apache-2.0
/**
 * playAccidents declares the tests of a list of accidents, which happen one after the other. The API server, the controllers of
 * Kubernetes and the operator are real processes, and three daemons have fake kernels. checker.ts judges each of them in the same way.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { FakeNic } from "@switchyard/host/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bundleApp } from "../src/bundle-app.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareFaultTests, type PreparedFaultTests } from "../faults/campaign.ts";
import { startFaultCluster, type ClusterUsage } from "../faults/fault-cluster.ts";
import { imageFlags } from "../faults/scenarios/component-scenario.ts";
import { provide } from "./acts.ts";
import { checkAccident, growth, ownProcess, workers, type Accident, type World } from "./checker.ts";

export interface PlayOptions {
  /** Returns the path of the program that runs as the operator, given that of the operator's bundle, which is the default. */
  readonly programOf?: (main: string) => Promise<string>;
  /** NICs of each node, besides the one with VFs. */
  readonly nics?: readonly FakeNic[];
}

export function playAccidents(accidents: readonly Accident[], { programOf, nics = [] }: PlayOptions = {}): void {
  let prepared: PreparedFaultTests;
  let world: World;
  let before: ClusterUsage;
  let directory: string;

  beforeAll(async () => {
    prepared = await prepareFaultTests();
    const { binaries } = prepared;
    const main = (await programOf?.(prepared.main)) ?? prepared.main;
    const flags = [...imageFlags, "--stale-node-state-cleanup-delay-minutes", "30"];
    directory = await mkdtemp(join(tmpdir(), "switchyard-accidents-"));
    const daemonMain = await bundleApp("apps/config-daemon", directory, "src/testing/fake-node.ts");
    const cluster = await startFaultCluster({ binaries, main, flags, nics, daemonMain });
    world = { cluster, wish: { numVfs: 4 } };
    for (const worker of workers) await cluster.users.nodes.add(worker, { ownProcess: worker === ownProcess });
    await provide(world);
    before = await cluster.measure();
  }, 600_000);

  afterAll(async () => {
    await disposeOf(world.cluster, prepared);
    await rm(directory, { recursive: true });
  }, 60_000);

  describe("after the accident that", () => {
    it.each(accidents)(
      "$name, the cluster is as its users want it",
      async (accident) => {
        await provide(world);
        expect(await checkAccident(world, accident)).toEqual([]);
      },
      30 * 60_000,
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
