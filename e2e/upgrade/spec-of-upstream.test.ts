// SPDX-License-Identifier: Apache-2.0
/**
 * While a rollback replaces Switchyard's daemons, upstream's operator already writes the specs of their nodes, and writes some of
 * them incomplete at first. The daemon does not act on them. It acts again when Switchyard's operator has written the spec.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, sriovNetworkNodeStates, sriovOperatorConfigs } from "@switchyard/api";
import { igb, pci } from "@switchyard/host/testing";
import { objectPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldAt } from "../src/api/plain-api.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

const node = "worker-1";
const within = { withinMs: 60_000 };
const spec = (numVfs: number) => ({
  interfaces: [
    {
      pciAddress: "0000:01:00.0",
      name: "enp1s0f0",
      numVfs,
      vfGroups: [{ deviceType: "netdevice", policyName: "fast", resourceName: "fast", vfRange: `0-${numVfs - 1}` }],
    },
  ],
});
let testCluster: UpstreamCluster;
let worker: FakeWorker;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  const metadata = { name: "default", namespace };
  await testCluster.as(upstream.user).create(sriovOperatorConfigs, { metadata, spec: { disableDrain: true } });
  worker = testCluster.use(await createWorker(testCluster, node, [igb("0000:01:00.0")]));
});

afterAll(async () => {
  await disposeOf(testCluster);
});

/** Writes the spec as Switchyard's operator does: by server-side apply, after it has taken over the fields of upstream. */
async function writeAsSwitchyard(numVfs: number): Promise<void> {
  const path = objectPath(sriovNetworkNodeStates, { name: node, namespace });
  const before = await testCluster.find(sriovNetworkNodeStates, node);
  if (before !== undefined) {
    const body = { metadata: { managedFields: [{}] } };
    await testCluster.transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }
  const { group, version, kind } = sriovNetworkNodeStates;
  const idle = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name: node, namespace, annotations: idle } };
  await testCluster.transport.request({
    method: "PATCH",
    path,
    query: { fieldManager: "switchyard-node-state", force: true },
    contentType: "application/apply-patch+yaml",
    body: Object.assign(body, { spec: spec(numVfs) }),
  });
}

const numVfs = async () => (await worker.kernel.host().sriov.readPf(pci("0000:01:00.0")))?.sriov?.numVfs;
const log = () => readFile(join(testCluster.directory, `${node}.log`), "utf8");

describe("a daemon that a rollback is about to replace", () => {
  it("does not act on a spec of upstream's operator, and acts on the next one of Switchyard's", async () => {
    await writeAsSwitchyard(4);
    worker.startDaemon();
    await eventually(
      "the node is configured",
      async () => {
        return fieldAt(await testCluster.read(sriovNetworkNodeStates, node), "status", "syncStatus") === "Succeeded";
      },
      within,
    );
    expect(await numVfs()).toBe(4);

    const before = worker.kernel.writes.length;
    const state = await testCluster.read(sriovNetworkNodeStates, node);
    await testCluster.as(upstream.operator).update(sriovNetworkNodeStates, Object.assign({}, state, { spec: spec(2) }));
    await eventually("the daemon has seen the spec", async () => (await log()).includes("not acting on it"), within);
    expect(worker.kernel.writes.slice(before)).toEqual([]);
    expect(await numVfs()).toBe(4);

    await writeAsSwitchyard(3);
    await eventually("the node is configured", async () => (await numVfs()) === 3, within);
  });
});
