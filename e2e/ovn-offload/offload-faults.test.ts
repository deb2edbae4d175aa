// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload is killed after each of its writes, and each of its writes is refused or unanswered once, while a pool is
 * selected, a card is replaced and the pool is deselected. The end is the same, with one change of the MachineConfig in
 * each direction.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies } from "@switchyard/api";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { collectionPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { describeRequest, type ApiRequest } from "../src/api/api-request.ts";
import type { WriteOutcome } from "../src/api/fault-rules.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs } from "./offload-cluster.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const pass: WriteOutcome = { isCarriedOut: true, answer: "server's" };
const lost: WriteOutcome = { isCarriedOut: true, answer: "reset" };
const refused: WriteOutcome = { isCarriedOut: false, answer: { status: 500, reason: "InternalError" } };
const forbidden: WriteOutcome = { isCarriedOut: false, answer: { status: 403, reason: "Forbidden" } };
const conflict: WriteOutcome = { isCarriedOut: false, answer: { status: 409, reason: "Conflict" } };

let simulated: SimulatedOffloadCluster;
let before: Readonly<Record<string, unknown>>;
let offloaded: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1", "host-2"]);
  before = await snapshotOffload(simulated.place.testCluster);
  await simulated.wayIn();
  offloaded = await snapshotOffload(simulated.place.testCluster);
  await simulated.wayOut();
}, 900_000);

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

/** A whole life under the faults that were set before; `during` happens while the hosts run OVN on their SmartNICs. */
async function live(during: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const { place, service } = simulated;
  const from = { reboots: place.reboots.length, writes: service.writes.length };
  await simulated.wayIn();
  expect(await snapshotOffload(place.testCluster)).toEqual(offloaded);
  await during();
  await simulated.wayOut();
  expect(await snapshotOffload(place.testCluster)).toEqual(before);
  // Each change of the MachineConfig reboots all hosts of the pool.
  expect(place.reboots.slice(from.reboots)).toEqual(["host-1", "host-2", "host-1", "host-2"]);
  const configs = service.writes.slice(from.writes).filter((write) => write.includes("/machineconfigs/"));
  expect(configs).toEqual([expect.stringContaining("PATCH"), expect.stringContaining("DELETE")]);
}

/** The card of host-2 becomes one of another model in another slot, and then the first one again. */
async function replaceCard(): Promise<void> {
  const { place, hosts } = simulated;
  const host = hosts.get("host-2");
  if (host === undefined) throw new Error("host-2 does not exist");
  for (const { cards, slot, models } of [
    { cards: ["a2dc"], slot: 4, models: ["bluefield-2", "bluefield-3"] },
    { cards: ["a2d6"], slot: 1, models: ["bluefield-2"] },
  ]) {
    Object.assign(host, { cards, slot });
    const isDone = async () => {
      const names = models.map((model) => `ovn-offload-${hostPool}-${model}`);
      expect(await policyNames()).toEqual(names);
      expect(await vfsOf("host-2", `0000:${slot + 2}b:00.0`)).toBeGreaterThan(0);
      expect(await place.overall()).toContain("True Ready");
      return true;
    };
    await eventually(`host-2 has VFs of ${cards.join()}`, isDone, { withinMs: settledWithinMs });
  }
  expect(await snapshotOffload(place.testCluster)).toEqual(offloaded);
}

async function policyNames(): Promise<readonly string[]> {
  const items = fieldAt(await simulated.place.api.read(collectionPath(sriovNetworkNodePolicies, namespace)), "items");
  return (Array.isArray(items) ? (items as readonly unknown[]) : [])
    .map((policy) => String(fieldAt(policy, "metadata", "name")))
    .toSorted();
}

async function vfsOf(node: string, pciAddress: string): Promise<number> {
  const states = "/apis/sriovnetwork.openshift.io/v1/namespaces/sriov-network-operator/sriovnetworknodestates";
  const pfs = fieldAt(await simulated.place.api.read(`${states}/${node}`), "status", "interfaces");
  const pf = (Array.isArray(pfs) ? (pfs as readonly unknown[]) : []).find(
    (one) => fieldAt(one, "pciAddress") === pciAddress,
  );
  return Number(fieldAt(pf, "numVfs") ?? 0);
}

/** Kills the service after each write until the result is called, which returns the number of kills. */
function killAtEachWrite(outcome: WriteOutcome): () => Promise<number> {
  const { service } = simulated;
  let kills = 0;
  let isKilling = false;
  const failures: unknown[] = [];
  service.setFate(({ resource }) => {
    if (resource === "events") return pass; // nothing depends on them
    // Writes that are under way at the same time do not reach the API server.
    if (isKilling) return { isCarriedOut: false, answer: "reset" };
    isKilling = true;
    kills += 1;
    return {
      ...outcome,
      after: () => {
        kill().catch((error: unknown) => failures.push(error));
      },
    };
  });
  async function kill(): Promise<void> {
    await service.process.kill();
    service.process.restart();
    isKilling = false;
  }
  return async () => {
    await eventually("the last kill is over", () => !isKilling);
    service.setFate(() => pass);
    expect(failures).toEqual([]);
    return kills;
  };
}

it.each([
  { is: "is answered", outcome: pass },
  { is: "is not answered", outcome: lost },
])("survives a kill after each write that $is", async ({ outcome }) => {
  const stopKilling = killAtEachWrite(outcome);
  await live();
  expect(await stopKilling()).toBeGreaterThan(15);
});

it.each([
  { is: "is answered", outcome: pass },
  { is: "is not answered", outcome: lost },
])("survives a kill after each write that $is while a card is replaced", async ({ outcome }) => {
  await live(async () => {
    const stopKilling = killAtEachWrite(outcome);
    await replaceCard();
    expect(await stopKilling()).toBeGreaterThanOrEqual(2); // a policy is created, and deleted at the end
  });
});

it.each([
  { is: "fails in the API server", outcome: refused },
  { is: "is forbidden", outcome: forbidden },
  { is: "conflicts", outcome: conflict },
  { is: "is carried out but not answered", outcome: lost },
])("comes to the same end if each write $is once", async ({ outcome }) => {
  const seen = new Set<string>();
  const isFirst = (write: ApiRequest): boolean => {
    const text = describeRequest(write);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  };
  simulated.service.setFate((write) => (isFirst(write) ? outcome : pass));
  await live(replaceCard);
  simulated.service.setFate(() => pass);
  expect(seen.size).toBeGreaterThan(8);
});
