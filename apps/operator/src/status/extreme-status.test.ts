// SPDX-License-Identifier: Apache-2.0
/**
 * A node writes its own status. The status of a compromised node must not keep the operator from handling other nodes.
 */
import { describe, expect, it } from "@jest/globals";
import {
  apiVersion,
  type InterfaceStatus,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
} from "@switchyard/api";
import { maxPfs, mergePolicies } from "@switchyard/policy";
import { toCachedNodeState } from "../facts/cached-node-state.ts";
import { createPolicyStatusReconciler } from "./policy-status-reconciler.ts";
import { createPoolStatusReconciler } from "./pool-status-reconciler.ts";
import { createCluster, createKeepingWriter, nic } from "../testing/cluster.ts";

const never = new AbortController().signal;
const quiet = { recordTransition: () => undefined, now: () => new Date(0) };

/** Many NICs with unfinished work; the API server stores objects of up to 1.5 MiB. */
const manyNics = Array.from({ length: 10_000 }, (_, i): InterfaceStatus => {
  return nic({ name: `eth${i}`, pciAddress: `0000:${i.toString(16).padStart(4, "0")}:00.0` });
});
const long = "x".repeat(3_000_000);

function createExtremeCluster(status: NonNullable<SriovNetworkNodeState["status"]>, policyCount: number) {
  const cluster = createCluster();
  cluster.addConfig();
  const names = Array.from({ length: policyCount }, (_, i) => `policy-${i}`);
  for (const name of names) cluster.addPolicy(name, { nicSelector: { vendor: "8086" }, numVfs: 2 });
  cluster.addNode("worker-1");
  cluster.setState("worker-1", { status });
  const [rules, node, state] = [cluster.rules(), cluster.nodes.get("worker-1"), cluster.states.get("worker-1")];
  if (rules === undefined || node === undefined || state === undefined) throw new Error("no cluster");
  const merged = mergePolicies(node, state.interfaces, rules);
  cluster.setState("worker-1", { spec: merged.spec, status });
  const interfaces = cluster.states.get("worker-1")?.interfaces ?? [];
  cluster.mergeResults.set("worker-1", { ...merged, interfaces, generations: new Map(names.map((name) => [name, 1])) });
  return { cluster, merged, names };
}

describe("a status with 10,000 interfaces", () => {
  it("is read up to the number of PFs that a machine can have", () => {
    const metadata = { name: "worker-1", uid: "u" };
    const spec = { interfaces: manyNics.map(({ pciAddress }) => ({ pciAddress, numVfs: 2 })) };
    const state = {
      apiVersion,
      kind: "SriovNetworkNodeState",
      metadata,
      spec,
      status: { interfaces: manyNics },
    } as const;
    expect(toCachedNodeState(state).interfaces).toHaveLength(maxPfs);
  });

  it("counts for policies as a machine with the most PFs that a machine can have", async () => {
    const { cluster, merged, names } = createExtremeCluster({ interfaces: manyNics, syncStatus: "Failed" }, 20);
    expect(merged.spec.interfaces).toHaveLength(maxPfs);
    const { writer, statuses } = createKeepingWriter<SriovNetworkNodePolicy>();
    const reconcile = createPolicyStatusReconciler({ ...cluster, ...quiet, writer });
    for (const name of names) await reconcile(name, never);
    const conditions = [...statuses.values()].map((status) => status.conditions?.length);
    expect(conditions).toEqual(names.map(() => 3));
  });
});

describe("a status with megabytes of text", () => {
  const status = { interfaces: [nic({ name: long }), nic({ name: "eth1", vendor: long })], syncStatus: "Failed" };

  it("results in conditions of readable length", async () => {
    const { cluster } = createExtremeCluster({ ...status, lastSyncError: long }, 1);
    cluster.addPool("pool", { maxUnavailable: 1 });
    expect(cluster.states.get("worker-1")?.lastSyncError.length).toBeLessThanOrEqual(4096);
    const policies = createKeepingWriter<SriovNetworkNodePolicy>();
    await createPolicyStatusReconciler({ ...cluster, ...quiet, writer: policies.writer })("policy-0", never);
    const pools = createKeepingWriter<SriovNetworkPoolConfig>();
    await createPoolStatusReconciler({ ...cluster, ...quiet, writer: pools.writer })("pool", never);
    const written = [...policies.statuses.values(), ...pools.statuses.values()];
    expect(written.map((status) => status.conditions?.length)).toEqual([3, 3]);
    expect(JSON.stringify(written).length).toBeLessThan(2 * 3 * 4096 + 2_000);
  });

  it("does not lengthen the problems of policies", () => {
    const cluster = createCluster();
    cluster.addConfig();
    cluster.addPolicy("none", { nicSelector: { vendor: "1111" } });
    cluster.addNode("worker-1");
    const [rules, node] = [cluster.rules(), cluster.nodes.get("worker-1")];
    if (rules === undefined || node === undefined) throw new Error("no cluster");
    const { problems } = mergePolicies(node, [...status.interfaces, ...manyNics], rules);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(" and 9986 more: correct")]);
    expect(JSON.stringify(problems).length).toBeLessThan(4096);
  });
});
