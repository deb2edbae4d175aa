// SPDX-License-Identifier: Apache-2.0
/**
 * The watch of one kind lags or is refused while a pool is selected and deselected. Decisions from a mixture of old and
 * new data never write a MachineConfig twice, and the end is the same. With data that are too old, nothing is written.
 */
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { eventually, findFreePorts } from "@switchyard/testing";
import { setTimeout as delay } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import type { ApiRequest } from "../src/api/api-request.ts";
import { settledWithinMs } from "./offload-cluster.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const lagMs = 1_500;

let simulated: SimulatedOffloadCluster;
let probes: string;
let before: Readonly<Record<string, unknown>>;
let offloaded: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const [port = 0] = await findFreePorts(1);
  probes = `http://127.0.0.1:${port}`;
  simulated = await startSimulatedCluster(["host-1", "host-2"], ["--health-address", `127.0.0.1:${port}`]);
  before = await snapshotOffload(simulated.place.testCluster);
  await simulated.wayIn();
  offloaded = await snapshotOffload(simulated.place.testCluster);
  await simulated.wayOut();
}, 900_000);

afterEach(() => {
  simulated.service.setReads({});
});

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

/** A whole life under the faults that were set before. */
async function live(): Promise<void> {
  const { place, service } = simulated;
  const from = { reboots: place.reboots.length, writes: service.writes.length };
  await simulated.wayIn();
  await untilEqual(offloaded);
  await simulated.wayOut();
  await untilEqual(before);
  // Each change of the MachineConfig reboots all hosts of the pool.
  expect(place.reboots.slice(from.reboots)).toEqual(["host-1", "host-2", "host-1", "host-2"]);
  const configs = service.writes.slice(from.writes).filter((write) => write.includes("/machineconfigs/"));
  expect(configs).toEqual([expect.stringContaining("PATCH"), expect.stringContaining("DELETE")]);
}

/** With a cache that lags, the status can be written before a foreign change is seen and repaired. */
async function untilEqual(snapshot: Readonly<Record<string, unknown>>): Promise<void> {
  const isEqual = async () => {
    expect(await snapshotOffload(simulated.place.testCluster)).toEqual(snapshot);
    return true;
  };
  await eventually("everything is as expected", isEqual, { withinMs: settledWithinMs });
}

const kinds = [
  ...["nodes", "sriovnetworknodestates", "sriovnetworknodepolicies", "sriovoperatorconfigs"],
  ...["machineconfigpools", "machineconfigs", "configmaps", "dnses"],
];

it.each(kinds)("comes to the same end while the watch of %s lags", async (kind) => {
  let delayed = 0;
  simulated.service.setReads({
    async whenLive({ resource }: ApiRequest) {
      if (resource !== kind) return undefined;
      delayed += 1;
      await delay(lagMs);
      return undefined;
    },
  });
  await live();
  expect(delayed).toBeGreaterThan(1);
});

it("writes nothing while its data about hosts are too old, and then goes on", async () => {
  await simulated.wayIn();
  const isStates = ({ resource }: ApiRequest) => resource === "sriovnetworknodestates";
  simulated.service.setReads({
    outcomeOfRead: (read) => (isStates(read) ? { refusal: { status: 403, reason: "Forbidden" } } : {}),
    whenLive: (watch) => Promise.resolve(isStates(watch) ? "reset" : undefined),
  });
  const readReady = async () => (await fetch(`${probes}/readyz`)).text();
  const isStale = async () => (await readReady()).includes("sriovnetworknodestates: cache is stale");
  await eventually("the service is not ready", isStale, { withinMs: 300_000, everyMs: 1_000 });
  const from = simulated.service.writes.length;
  await simulated.place.select();
  await delay(10_000); // longer than the service waits for other changes
  expect(simulated.service.writes.slice(from)).toEqual([]);
  await untilEqual(offloaded);
  simulated.service.setReads({});
  await simulated.wayOut();
  await untilEqual(before);
});
