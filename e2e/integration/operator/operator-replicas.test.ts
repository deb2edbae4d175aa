// SPDX-License-Identifier: Apache-2.0
/**
 * Two replicas of the operator that are frozen, continued and stopped while nodes wait for their drains. The API
 * server's audit log shows which replica wrote. The test plays the nodes' daemons.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  annotations,
  nodes,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type DrainRequest,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createNode, namespace } from "@switchyard/test-cluster";
import { objectPath, patchMetadata, watchObjects, type Cache } from "@switchyard/kube";
import { eventually, findWorkspaceRoot, isWrite, type AuditEvent } from "@switchyard/testing";
import { join } from "node:path";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";

/** Six nodes: 10% of them is less than one node. */
const names = Array.from({ length: 6 }, (_, index) => `worker-${index}`);
/** Longer than the lease duration of 15 s. */
const takeOver = { withinMs: 60_000 };

let testCluster: UpstreamCluster;
let states: Cache<SriovNetworkNodeState> & AsyncDisposable;
const replicas: KeptProcess[] = [];
/** Nodes that were drained and have withdrawn their request, in this order. */
const drained: string[] = [];
/** The most nodes that were unavailable at the same time. */
let most = 0;
/** How many nodes may finish their drain. */
let allowed = 0;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  states = watchObjects({
    transport: testCluster.transport,
    type: sriovNetworkNodeStates,
    namespace,
    report: () => undefined,
    project: (state: SriovNetworkNodeState) => state,
  });
  states.subscribe(({ key }) => {
    most = Math.max(most, names.filter((name) => !["Idle", undefined].includes(answerOf(name))).length);
    goOn(key);
  });
  await testCluster.as("user").create(sriovOperatorConfigs, { metadata: { name: "default" }, spec: {} });
  await testCluster
    .as("user")
    .create(sriovNetworkPoolConfigs, { metadata: { name: "all" }, spec: { maxUnavailable: "10%" } });
  for (const name of names) await createNode(testCluster, name);
}, 600_000);

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.mustBeAlive()));
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await states[Symbol.asyncDispose]();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

function answerOf(name: string): string | undefined {
  return states.get(name)?.metadata.annotations?.[annotations.currentState];
}

/** Reports a PF in the node state, as a daemon does after it has inspected its node. */
async function report(name: string): Promise<void> {
  await eventually(`the state of ${name}`, () => states.get(name), takeOver);
  const path = objectPath(sriovNetworkNodeStates, { name, namespace }, "status");
  const body = { status: { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0" }], syncStatus: "Succeeded" } };
  await testCluster.transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
}

async function ask(name: string, request: DrainRequest): Promise<void> {
  const { transport } = testCluster;
  for (const [type, metadata, annotation] of [
    [sriovNetworkNodeStates, { name, namespace }, annotations.desiredState],
    [nodes, { name }, annotations.nodeState],
  ] as const) {
    await patchMetadata({ transport, type, object: { metadata }, annotations: { [annotation]: request } });
  }
}

function goOn(name: string): void {
  if (answerOf(name) !== "DrainComplete" || drained.includes(name) || drained.length >= allowed) return;
  drained.push(name);
  void ask(name, "Idle");
}

/** Lets nodes finish their drains until `count` nodes were drained. The next node keeps its slot. */
async function drainUntil(count: number): Promise<void> {
  allowed = count;
  for (const name of names) goOn(name);
  await eventually(`${count} nodes were drained`, () => drained.length >= count, takeOver);
}

async function startReplica(user: string): Promise<KeptProcess> {
  const kubeconfig = await testCluster.cluster.clientFor({ user, groups: ["system:masters"] });
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
  const args = [main, "--kubeconfig", kubeconfig, "--namespace", namespace];
  const replica = spawnKept(args, { log: join(testCluster.directory, `${user}.log`), name: `operator-${user}` });
  replicas.push(replica);
  return replica;
}

/** The replicas' writes in order, without those to leases and events. */
async function writesOfReplicas(): Promise<readonly AuditEvent[]> {
  const all = (await testCluster.audit()).filter(
    (event) => isWrite(event) && /^replica-/.test(event.user.username ?? ""),
  );
  return all
    .filter(({ objectRef }) => !["leases", "events"].includes(objectRef?.resource ?? ""))
    .toSorted((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1));
}

const lastWriter = async () => (await writesOfReplicas()).at(-1)?.user.username;

describe("two replicas", () => {
  it("drain one node at a time (sriov-operator.md M-17), also if 10% of the pool is less than one node (sriov-operator.md M-12)", async () => {
    const a = await startReplica("replica-a");
    await Promise.all(names.map(report));
    await eventually("all nodes are idle", () => names.every((name) => answerOf(name) === "Idle"), takeOver);
    const b = await startReplica("replica-b");
    await eventually("the second replica reads the node states", async () => {
      const reads = (await testCluster.audit()).filter(({ user }) => user.username === "replica-b");
      return reads.some(({ objectRef }) => objectRef?.resource === "sriovnetworknodestates");
    });
    await Promise.all(names.map((name) => ask(name, "Drain_Required")));
    await drainUntil(2);

    a.signal("STOP");
    await drainUntil(4);
    expect(await lastWriter()).toBe("replica-b");
    a.signal("CONT"); // believes that it still leads
    await drainUntil(5);

    b.signal("TERM"); // releases the lease
    expect(await b.exited).toBe(0);
    await drainUntil(6);
    await eventually("all nodes are idle", () => names.every((name) => answerOf(name) === "Idle"), takeOver);

    const writers = (await writesOfReplicas()).map(({ user }) => user.username);
    expect(writers.filter((each, index) => each !== writers[index - 1])).toEqual([
      "replica-a",
      "replica-b",
      "replica-a",
    ]);
    expect([most, drained.toSorted()]).toEqual([1, names]);
  }, 180_000);

  it("record events of type Normal for drains that succeed (sriov-operator.md M-13)", async () => {
    const shown = '{range .items[*]}{.type} {.reason}{"\\n"}{end}';
    const lines = await testCluster.cluster.kubectl(["get", "events", "-A", "-o", `jsonpath=${shown}`]);
    const ofDrains = new Set(lines.split("\n").filter((line) => line.includes("Drain")));
    expect([...ofDrains].toSorted()).toEqual(["Normal DrainCompleted", "Normal DrainReleased", "Normal DrainStarted"]);
  });
});
