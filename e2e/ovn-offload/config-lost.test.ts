// SPDX-License-Identifier: Apache-2.0
/**
 * The SriovOperatorConfig disappears while OVN of two hosts runs on their SmartNICs: users delete and create it again, and
 * `kubectl replace --force` does the same. Its absence is no wish, so the hosts stay as they are.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { operatorConfigName, sriovOperatorConfigs } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs } from "./offload-cluster.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const hostNames = ["host-1", "host-2"];
const path = objectPath(sriovOperatorConfigs, { name: operatorConfigName, namespace });
const crd = "sriovnetwork.openshift.io_sriovoperatorconfigs.yaml";

/** Longer than the service waits for further changes, several times. */
const absentMs = 4_000;

let simulated: SimulatedOffloadCluster;
let without: Readonly<Record<string, unknown>>;
/** What the service has written, and the reboots, when all hosts were ready. */
let ready: { readonly objects: unknown; readonly reboots: number; readonly writes: number; readonly spec: unknown };

beforeAll(async () => {
  simulated = await startSimulatedCluster(hostNames);
  without = await snapshotOffload(simulated.place.testCluster);
  await simulated.wayIn();
}, 600_000);

beforeEach(async () => {
  const { place, service } = simulated;
  await place.untilOverall("True Ready");
  const spec = fieldAt(await place.api.read(path), "spec");
  const objects = await snapshotOffload(place.testCluster);
  ready = { objects, spec, reboots: place.reboots.length, writes: service.writes.length };
});

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

const createAgain = (spec: unknown = ready.spec) => {
  const head = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig" };
  return simulated.place.create({ ...head, metadata: { name: operatorConfigName, namespace }, spec: spec ?? {} });
};

/** The service wrote nothing but events and its status, and no host has booted. */
async function expectUntouched(): Promise<void> {
  const { place, service } = simulated;
  const writes = service.writes.slice(ready.writes);
  expect(writes.filter((write) => !/\/(events|sriovoperatorconfigs)\b/.test(write))).toEqual([]);
  expect(await snapshotOffload(place.testCluster)).toEqual(ready.objects);
  expect(place.reboots.slice(ready.reboots)).toEqual([]);
}

async function keptEvents(): Promise<readonly unknown[]> {
  const found = fieldAt(
    await simulated.place.api.read(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`),
    "items",
  );
  return (Array.isArray(found) ? (found as readonly unknown[]) : []).filter((event) => {
    return fieldAt(event, "reason") === "OvnOffloadHostKept";
  });
}

it("keeps the hosts while the SriovOperatorConfig is deleted, and says so at each host", async () => {
  await simulated.place.api.remove(path);
  await eventually("both hosts have an event", async () => (await keptEvents()).length === 2, {
    withinMs: settledWithinMs,
  });
  const [event] = await keptEvents();
  expect(fieldAt(event, "note")).toMatch(/^SriovOperatorConfig default does not exist, so the host stays as it is: /);
  expect(fieldAt(event, "regarding", "kind")).toBe("SriovNetworkNodeState");
  await sleep(absentMs);
  await expectUntouched();
  await createAgain();
  await simulated.place.untilOverall("True Ready");
  await expectUntouched();
});

it("keeps them when the service starts while the SriovOperatorConfig does not exist", async () => {
  await simulated.place.api.remove(path);
  await simulated.service.process.kill();
  simulated.service.process.restart();
  await sleep(absentMs);
  await expectUntouched();
  await createAgain();
  await simulated.place.untilOverall("True Ready");
  await expectUntouched();
});

it("keeps them while the kind is not served, also when the service starts then", async () => {
  const { cluster } = simulated.place.testCluster;
  await cluster.kubectl(["delete", "crd", "sriovoperatorconfigs.sriovnetwork.openshift.io", "--wait"]);
  await sleep(absentMs);
  await simulated.service.process.kill();
  simulated.service.process.restart();
  await sleep(absentMs);
  await expectUntouched();
  await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds", crd));
  await sleep(absentMs);
  await expectUntouched();
  await createAgain();
  await simulated.place.untilOverall("True Ready");
  await expectUntouched();
});

it("keeps them while the SriovOperatorConfig is being deleted, and its condition says what to do", async () => {
  const { api } = simulated.place;
  await api.patch(path, { metadata: { finalizers: ["example.com/wait"] } });
  await api.remove(path);
  await api.patch(path, { spec: { ovnHardwareOffload: null } });
  await simulated.place.untilOverall(
    "False Degraded",
    "SriovOperatorConfig default is being deleted",
    "create it again",
  );
  await expectUntouched();
  await api.patch(path, { metadata: { finalizers: null } });
  await sleep(absentMs);
  await createAgain();
  await simulated.place.untilOverall("True Ready");
  await expectUntouched();
});

it("restores the hosts when it is created again without the entry", async () => {
  await simulated.place.api.remove(path);
  await sleep(absentMs);
  await createAgain({});
  await eventually(
    "the hosts have booted",
    () => Promise.resolve(simulated.place.reboots.length === ready.reboots + 2),
    {
      withinMs: settledWithinMs,
    },
  );
  const isRestored = async () => isDeepStrictEqual(await snapshotOffload(simulated.place.testCluster), without);
  await eventually("nothing is left", isRestored, { withinMs: settledWithinMs });
  await eventually("the status is empty", async () => (await simulated.place.overall()) === "", {
    withinMs: settledWithinMs,
  });
});
