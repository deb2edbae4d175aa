// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  afxdpApiVersion,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateStatus,
  type AfxdpOperatorConfig,
} from "@switchyard/api";
import { ObjectStore } from "@switchyard/kube";
import { createHeldResets } from "../node-states/held-resets.ts";
import { createCluster, createKeepingWriter } from "../testing/cluster.ts";
import { afxdpStores } from "../facts/afxdp-caches.ts";
import { createAfxdpLiveRules } from "../facts/afxdp-live-rules.ts";
import { createAfxdpMergeResults } from "../results/afxdp-merge-results.ts";
import { createAfxdpNodeStateReconciler } from "./afxdp-node-state-reconciler.ts";
import { createAfxdpPolicyStatusReconciler } from "./afxdp-policy-status-reconciler.ts";

const namespace = "sriov-network-operator";
const signal = new AbortController().signal;
const port = { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "15b3", deviceID: "101d", maxSfs: 8, numSfs: 0 };
const configured = { interfaces: [port], syncStatus: "Succeeded", pools: [{ name: "fast", announced: 2 }] } as const;

/** One node, and a policy for its port. The test decides when the cache shows a state. */
function createAfxdpCluster() {
  const cluster = createCluster();
  const { nodes, states } = cluster;
  cluster.addNode("worker-1");
  const afxdpPolicies = new ObjectStore({ ...afxdpStores.afxdpPolicies, namespace });
  const afxdpConfigs = new ObjectStore({ ...afxdpStores.afxdpConfigs, namespace });
  const { afxdpStates } = cluster;
  const rules = createAfxdpLiveRules({ afxdpPolicies, afxdpConfigs, staleDelayMs: 0 }, signal);
  const results = createAfxdpMergeResults();
  const policyWriter = createKeepingWriter<AfxdpNetworkNodePolicy>();
  const stateWriter = createKeepingWriter<AfxdpNetworkNodeState>();
  const common = { nodes, states, afxdpStates, afxdpPolicies, rules, results };
  const merge = createAfxdpNodeStateReconciler({
    ...common,
    writer: stateWriter.writer,
    configExists: () => Promise.resolve(true),
    findResetHold: () => Promise.resolve(undefined),
    deletions: { remainingMs: () => 0 },
    massLoss: () => undefined,
    heldResets: createHeldResets(),
    nowMs: () => 0,
  });
  const report = createAfxdpPolicyStatusReconciler({
    ...common,
    writer: policyWriter.writer,
    recordTransition: () => undefined,
    now: () => new Date(0),
  });
  let version = 0;
  const meta = (name: string, generation = 1) => ({
    name,
    namespace,
    uid: name,
    generation,
    resourceVersion: `${++version}`,
  });
  const config: AfxdpOperatorConfig = {
    apiVersion: afxdpApiVersion,
    kind: "AfxdpOperatorConfig",
    metadata: meta("default"),
  };
  afxdpConfigs.upsert(config);

  return {
    /** Merges the policies as the operator does, and returns the spec that it applies. */
    async merge() {
      await merge("worker-1", signal);
      return stateWriter.applied.get("worker-1")?.spec ?? {};
    },
    setPolicy(numSfs: number, generation: number): void {
      const spec = {
        poolName: "fast",
        nodeSelector: { "node-role.kubernetes.io/worker": "" },
        nicSelector: { vendor: "15b3" },
        numSfs,
      };
      const policy: AfxdpNetworkNodePolicy = {
        apiVersion: afxdpApiVersion,
        kind: "AfxdpNetworkNodePolicy",
        metadata: meta("fast", generation),
        spec,
      };
      afxdpPolicies.upsert(policy);
    },
    showState(generation: number, spec: AfxdpNetworkNodeState["spec"], status: AfxdpNetworkNodeStateStatus): void {
      const state: AfxdpNetworkNodeState = {
        apiVersion: afxdpApiVersion,
        kind: "AfxdpNetworkNodeState",
        metadata: meta("worker-1", generation),
        spec: spec ?? {},
        status,
      };
      afxdpStates.upsert(state);
    },
    /** Returns the type and reason of the conditions that hold, or "not written". */
    async status() {
      policyWriter.statuses.clear();
      await report("fast", signal);
      const { conditions } = policyWriter.statuses.get("fast") ?? {};
      if (conditions === undefined) return "not written";
      return conditions.flatMap(({ type, status, reason }) => (status === "True" ? [`${type} ${reason}`] : []));
    },
  };
}

describe("createAfxdpPolicyStatusReconciler", () => {
  it("is ready when the node reports the policy's own devices, not those before it", async () => {
    const cluster = createAfxdpCluster();
    cluster.showState(1, {}, { ...configured, observedGeneration: 1 });
    cluster.setPolicy(2, 1);
    const spec = await cluster.merge();
    expect(spec.interfaces).toHaveLength(1);
    expect(await cluster.status()).toEqual(["Progressing Configuring"]); // the cache still shows the state without devices
    cluster.showState(2, spec, { ...configured, observedGeneration: 1 });
    expect(await cluster.status()).toEqual(["Progressing Configuring"]);
    cluster.showState(2, spec, { ...configured, observedGeneration: 2 });
    expect(await cluster.status()).toEqual(["Ready Configured"]);
  });

  it("is ready only when the device plugin announces what the policy requests", async () => {
    const cluster = createAfxdpCluster();
    cluster.showState(1, {}, { ...configured, observedGeneration: 1 });
    cluster.setPolicy(2, 1);
    const spec = await cluster.merge();
    const show = (pools: AfxdpNetworkNodeStateStatus["pools"]) => {
      cluster.showState(2, spec, { ...configured, observedGeneration: 2, ...(pools && { pools }) });
      return cluster.status();
    };
    expect(await show([])).toEqual(["Progressing Configuring"]);
    expect(await show([{ name: "fast", announced: 0 }])).toEqual(["Degraded NodesFailed"]);
    expect(await show([{ name: "fast", announced: 2, error: "device v0: …" }])).toEqual(["Degraded NodesFailed"]);
    expect(await show([{ name: "fast", announced: 2 }])).toEqual(["Ready Configured"]);
  });

  it("does not report failures of an earlier spec", async () => {
    const cluster = createAfxdpCluster();
    cluster.showState(1, {}, { ...configured, observedGeneration: 1 });
    cluster.setPolicy(2, 1);
    const before = await cluster.merge();
    const failed = {
      ...configured,
      syncStatus: "Failed",
      lastSyncError: "no resources",
      observedGeneration: 2,
    } as const;
    cluster.showState(2, before, failed);
    expect(await cluster.status()).toEqual(["Degraded NodesFailed"]);
    cluster.setPolicy(1, 2);
    await cluster.merge();
    expect(await cluster.status()).toEqual(["Progressing Configuring"]);
  });

  it("writes nothing until the node is merged with the current policy and NICs", async () => {
    const cluster = createAfxdpCluster();
    cluster.setPolicy(2, 1);
    expect(await cluster.status()).toBe("not written");
    const spec = await cluster.merge();
    expect(await cluster.status()).toEqual(["Progressing Configuring"]); // the node has not reported its NICs
    cluster.showState(1, spec, { ...configured, observedGeneration: 1 });
    expect(await cluster.status()).toBe("not written"); // rather than "no NIC matches"
    await cluster.merge();
    cluster.setPolicy(3, 2);
    expect(await cluster.status()).toBe("not written");
  });
});
