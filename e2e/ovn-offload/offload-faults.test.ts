// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload is killed after each of its writes, and each of its writes is refused or unanswered once, while a pool is selected,
 * gets a node and is deselected: the end is the same, with one change of the MachineConfig in each direction.
 */
import { afterAll, beforeAll, expect, it, jest } from "@jest/globals";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { eventually } from "@switchyard/testing";
import { describeRequest, type ApiRequest } from "../src/api-request.ts";
import type { Fate } from "../src/fault-rules.ts";
import { isOffloaded, settledWithinMs, startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { startOffloadService, type OffloadService } from "./offload-service.ts";
import { playHosts, type PlayedHost } from "./played-hosts.ts";

jest.setTimeout(900_000); // for busy machines

const hosts = new Map<string, PlayedHost>();
const entry = { nodeSelector: { [`node-role.kubernetes.io/${hostPool}`]: "" }, taint: "NoSchedule" as const };
const pass: Fate = { isCarriedOut: true, answer: "server's" };
const lost: Fate = { isCarriedOut: true, answer: "reset" };
const refused: Fate = { isCarriedOut: false, answer: { status: 500, reason: "InternalError" } };
const forbidden: Fate = { isCarriedOut: false, answer: { status: 403, reason: "Forbidden" } };
const conflict: Fate = { isCarriedOut: false, answer: { status: 409, reason: "Conflict" } };

let place: OffloadCluster;
let service: OffloadService;
let before: Readonly<Record<string, unknown>>;
let offloaded: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  place = await startOffloadCluster({
    onReboot(node, config) {
      const host = hosts.get(node);
      if (host !== undefined) host.isOffloaded = isOffloaded(config);
    },
  });
  place.testCluster.use(playHosts({ transport: place.testCluster.transport, hosts }));
  for (const name of ["host-1", "host-2"]) await addHost(name);
  service = await startOffloadService(place.testCluster);
  before = await snapshotOffload(place.testCluster);
  await wayIn();
  offloaded = await snapshotOffload(place.testCluster);
  await wayOut();
}, 900_000);

afterAll(async () => {
  await place[Symbol.asyncDispose]();
}, 120_000);

async function addHost(name: string): Promise<void> {
  hosts.set(name, { cards: ["a2d6"], mode: "embedded-cpu", isOffloaded: false });
  await place.addNode(name, hostPool);
}

async function wayIn(): Promise<void> {
  await place.select(entry);
  await place.untilOverall("True Ready");
}

async function wayOut(): Promise<void> {
  await place.select();
  await eventually(
    "nothing is left",
    async () => {
      const text = await place.overall();
      if (text === "") return true;
      throw new Error(text);
    },
    { withinMs: settledWithinMs },
  );
}

/** A whole life under the faults that were set before. */
async function live(): Promise<void> {
  const from = { reboots: place.reboots.length, writes: service.writes.length };
  await wayIn();
  expect(await snapshotOffload(place.testCluster)).toEqual(offloaded);
  await wayOut();
  expect(await snapshotOffload(place.testCluster)).toEqual(before);
  // Each change of the MachineConfig reboots all hosts of the pool.
  expect(place.reboots.slice(from.reboots)).toEqual(["host-1", "host-2", "host-1", "host-2"]);
  const configs = service.writes.slice(from.writes).filter((write) => write.includes("/machineconfigs/"));
  expect(configs).toEqual([expect.stringContaining("PATCH"), expect.stringContaining("DELETE")]);
}

it.each([
  { is: "is answered", fate: pass },
  { is: "is not answered", fate: lost },
])("survives a kill after each write that $is", async ({ fate }) => {
  let kills = 0;
  let isKilling = false;
  const failures: unknown[] = [];
  service.setFate(() => {
    // Writes that are under way at the same time do not reach the API server.
    if (isKilling) return { isCarriedOut: false, answer: "reset" };
    isKilling = true;
    return {
      ...fate,
      after: () => {
        kill().catch((error: unknown) => failures.push(error));
      },
    };
  });
  async function kill(): Promise<void> {
    await service.process.kill();
    kills += 1;
    isKilling = false;
    service.process.restart();
  }
  await live();
  service.setFate(() => pass);
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThan(15);
});

it.each([
  { is: "fails in the API server", fate: refused },
  { is: "is forbidden", fate: forbidden },
  { is: "conflicts", fate: conflict },
  { is: "is carried out but not answered", fate: lost },
])("comes to the same end if each write $is once", async ({ fate }) => {
  const seen = new Set<string>();
  const isFirst = (write: ApiRequest): boolean => {
    const text = describeRequest(write);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  };
  service.setFate((write) => (isFirst(write) ? fate : pass));
  await live();
  service.setFate(() => pass);
  expect(seen.size).toBeGreaterThan(8);
});
