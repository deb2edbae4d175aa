// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  defined,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodePolicySpec,
  type SriovNetworkNodeState,
  type VfStatus,
} from "@switchyard/api";
import type { ManagedFieldsEntry } from "@switchyard/kube";
import { mergePolicies } from "@switchyard/policy";
import { fieldManagers } from "../field-managers.ts";
import { createPolicyStatusReconciler } from "./policy-status-reconciler.ts";
import { createCluster, createKeepingWriter, nic } from "../testing/cluster.ts";
import { describeNoNodes } from "./policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";

type NodeStatus = NonNullable<SriovNetworkNodeState["status"]>;

const never = new AbortController().signal;
const quiet = { recordTransition: () => undefined, now: () => new Date(0) };

/** Nodes with the `given` states, merged as the node state reconciler does. */
async function statusOf(
  policy: Partial<SriovNetworkNodePolicySpec>,
  given: Readonly<Record<string, NodeStatus>>,
  nodeLabels: Readonly<Record<string, string>> = {},
  /** When the operator wrote the specs. */
  specWrittenAt?: string,
  others: Readonly<Record<string, Partial<SriovNetworkNodePolicySpec>>> = {},
) {
  const cluster = createCluster();
  cluster.addConfig();
  cluster.addPolicy("fast", policy);
  for (const [name, spec] of Object.entries(others)) cluster.addPolicy(name, spec);
  for (const [name, status] of Object.entries(given)) {
    cluster.addNode(name, nodeLabels);
    cluster.setState(name, { status });
    const rules = cluster.rules();
    const node = cluster.nodes.get(name);
    if (rules === undefined || node === undefined) throw new Error("no rules");
    const merged = mergePolicies(node, status.interfaces ?? [], rules);
    cluster.mergeResults.set(name, {
      ...merged,
      interfaces: cluster.states.get(name)?.interfaces ?? [],
      generations: new Map([["fast", 1]]),
    });
    const fields: ManagedFieldsEntry = {
      manager: fieldManagers.nodeState,
      operation: "Apply",
      ...defined({ time: specWrittenAt }),
    };
    cluster.setState(name, { spec: merged.spec, status }, {}, [fields]);
  }
  const kept = createKeepingWriter<SriovNetworkNodePolicy>();
  const now = () => new Date("2026-11-20T12:00:00Z");
  const recordTransition = () => undefined;
  const reconcile = createPolicyStatusReconciler({ ...cluster, writer: kept.writer, recordTransition, now });
  const requeue = await reconcile("fast", never);
  const status = kept.statuses.get("fast");
  const holds = status?.conditions?.filter((condition) => condition.status === "True") ?? [];
  return {
    requeue,
    counts: [status?.matchedNodeCount, status?.readyNodeCount],
    holds: holds.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    ready: status?.conditions?.find(({ type }) => type === "Ready")?.reason,
  };
}

const vfs: readonly VfStatus[] = [0, 1].map((vfID) => ({
  pciAddress: `0000:3b:02.${vfID}`,
  vfID,
  name: `ens1f0v${vfID}`,
  mac: `02:00:00:00:00:0${vfID}`,
  adminMac: `02:00:00:00:00:0${vfID}`,
  mtu: 1500,
  driver: "iavf",
}));
const done = { interfaces: [nic({ numVfs: 2, Vfs: vfs })], syncStatus: "Succeeded" };
const fresh = { interfaces: [nic()], syncStatus: "Succeeded" };

describe("createPolicyStatusReconciler", () => {
  it("is ready when each node with a matching NIC is configured", async () => {
    const other = { interfaces: [nic({ name: "eth7" })], syncStatus: "Succeeded" };
    expect(await statusOf({}, { "worker-1": done, "worker-2": other })).toEqual({
      requeue: undefined,
      counts: [1, 1],
      holds: ["Ready Configured: 1 of 1 nodes configured; no NIC matches on worker-2"],
      ready: "Configured",
    });
  });

  it("says how many ports a nicSelector without names selects, and which of its names are on no node", async () => {
    const second = nic({ pciAddress: "0000:3b:00.1", name: "ens1f1", numVfs: 2, Vfs: vfs });
    const two = { interfaces: [...done.interfaces, second], syncStatus: "Succeeded" };
    const broad = await statusOf({ nicSelector: { vendor: "8086" } }, { "worker-1": two });
    expect(broad.holds).toEqual([
      "Ready Configured: 1 of 1 nodes configured; " +
        "spec.nicSelector names no port: all 2 ports of vendor 8086 are selected",
    ]);
    const idle = await statusOf({ nicSelector: { pfNames: ["ens1f0", "uplink1"] } }, { "worker-1": done });
    expect(idle.holds).toEqual([
      'Ready Configured: 1 of 1 nodes configured; spec.nicSelector.pfNames[1]: "uplink1" is not a NIC on worker-1',
    ]);
  });

  it("says whose field is wrong if the nodes are outside of the node set", () => {
    const configKind = "SriovOperatorConfig" as const;
    const none = { configKind, nodeSetProblem: undefined };
    expect(describeNoNodes({ ...none, outside: [] })).toBe("spec.nodeSelector selects no nodes");
    expect(describeNoNodes({ ...none, outside: ["worker-3"] })).toBe(
      "spec.nodeSelector selects only nodes outside of the node set (worker-3): " +
        "check spec.configDaemonNodeSelector of SriovOperatorConfig default",
    );
    expect(describeNoNodes({ configKind, outside: [], nodeSetProblem: '"a b" is not a label key' })).toBe(
      'spec.configDaemonNodeSelector of SriovOperatorConfig default: "a b" is not a label key; ' +
        "nodes stay as they are until it is corrected",
    );
  });

  it("says that an empty nodeSelector selects all nodes", async () => {
    const { holds } = await statusOf({ nodeSelector: {} }, { "worker-1": done, "worker-2": fresh });
    expect(holds).toEqual([
      "Progressing Configuring: 1 of 2 nodes configured; " +
        "spec.nodeSelector is empty: all 2 nodes of the node set are selected",
    ]);
    const { holds: alone } = await statusOf({ nodeSelector: {} }, { "worker-1": done });
    expect(alone).toEqual([
      "Ready Configured: 1 of 1 nodes configured; spec.nodeSelector is empty: the only node of the node set is selected",
    ]);
  });

  it("is progressing while the observed state differs, whatever status the node reports", async () => {
    const { counts, holds } = await statusOf({}, { "worker-1": done, "worker-2": fresh });
    expect(counts).toEqual([2, 1]);
    expect(holds).toEqual(["Progressing Configuring: 1 of 2 nodes configured"]);
  });

  it("names the first node that waits, and says what for", async () => {
    const drain = (status: "True" | "False", reason: string, message: string): NodeStatus => {
      const lastTransitionTime = "2026-11-20T11:00:00Z";
      return { ...fresh, conditions: [{ type: "DrainProgressing", status, reason, message, lastTransitionTime }] };
    };
    const evicting = drain("True", "EvictingPods", "1 pod left: apps/vnf cannot be evicted now");
    const queued = drain("False", "WaitingForSlot", "waiting for a free slot in the cluster");
    const { holds } = await statusOf({}, { "worker-1": fresh, "worker-2": queued, "worker-3": evicting });
    expect(holds).toEqual([
      "Progressing Configuring: 0 of 3 nodes configured: worker-2 waits for a drain: waiting for a free slot in the cluster",
    ]);
    expect((await statusOf({}, { "worker-3": evicting })).holds).toEqual([
      "Progressing Configuring: 0 of 1 nodes configured: " +
        "worker-3 is being drained: 1 pod left: apps/vnf cannot be evicted now",
    ]);
    expect((await statusOf({}, { "worker-1": {} })).holds).toEqual([
      "Progressing Configuring: 0 of 1 nodes configured: worker-1 has not reported its NICs",
    ]);
  });

  it("names a daemon that has not observed a change for a minute, and looks again when the minute ends", async () => {
    const unseen: NodeStatus = { ...fresh, observedGeneration: 0 };
    const early = await statusOf({}, { "worker-1": unseen }, {}, "2026-11-20T11:59:20Z");
    expect(early).toMatchObject({
      requeue: { afterMs: 20_000 },
      holds: ["Progressing Configuring: 0 of 1 nodes configured"],
    });
    const late = await statusOf({}, { "worker-1": unseen }, {}, "2026-11-20T11:58:00Z");
    expect(late).toMatchObject({
      requeue: undefined,
      holds: [
        "Progressing Configuring: 0 of 1 nodes configured: worker-1 waits for its config daemon, " +
          "which has not observed the node state's change of 2026-11-20T11:58:00Z",
      ],
    });
  });

  it("reports node and field of an invalid policy", async () => {
    const { holds } = await statusOf({ nicSelector: { pfNames: ["ens1f0#a-b"] } }, { "worker-1": fresh });
    expect(holds).toHaveLength(1);
    expect(holds[0]).toMatch(/^Degraded Invalid: worker-1: spec\.nicSelector\.pfNames\[0\]: .*a-b/);
  });

  it("names what a policy does not get, beside the number of configured nodes", async () => {
    const card = {
      vendor: "15b3",
      deviceID: "a2d6",
      numVfs: 2,
      Vfs: vfs,
      cardMode: { current: "embedded-cpu" as const },
    };
    const host = { interfaces: [nic(card)], syncStatus: "Succeeded" };
    const pool = { "switchyard.io/ovn-offload-pool": "dpu-host" };
    const policy = { numVfs: 2, nicSelector: { pfNames: ["ens1f0#0-0"] } };
    const { holds } = await statusOf(policy, { "worker-1": host, "worker-2": host }, pool);
    expect(holds).toEqual([
      "Ready Configured: 2 of 2 nodes configured; worker-1: spec.nicSelector: VF 0 of 0000:3b:00.0 is reserved for the " +
        "management port of OVN-Kubernetes, and the policy selects no other VF of it, so its resource gets no VF of this " +
        "PF: increase numVfs, or select other VFs; 1 more node",
    ]);
  });

  it("reports the node that has fewer VFs than requested", async () => {
    const { holds } = await statusOf({ numVfs: 9 }, { "worker-1": fresh, "worker-2": fresh });
    expect(holds).toEqual([
      "Degraded NodesFailed: worker-1: numVfs: 9 VFs requested, but 0000:3b:00.0 supports at most 8; 1 more node",
    ]);
  });

  it("names the policy that requests more VFs of the same PF than it has", async () => {
    const many = { numVfs: 9, nicSelector: { pfNames: ["ens1f0"] } };
    const { holds } = await statusOf(
      { numVfs: 2, nicSelector: { pfNames: ["ens1f0"] } },
      { "worker-1": fresh },
      {},
      undefined,
      {
        many,
      },
    );
    expect(holds).toEqual([
      "Degraded NodesFailed: worker-1: numVfs: 9 VFs requested, but 0000:3b:00.0 supports at most 8 (policy many requests 9, this one 2)",
    ]);
  });

  it("reports a node's failure if work on the policy's own NICs is unfinished", async () => {
    const failed = { ...fresh, syncStatus: "Failed", lastSyncError: "set sriov_numvfs 2 on 0000:3b:00.0: ENOMEM" };
    const { holds } = await statusOf({}, { "worker-1": failed });
    expect(holds).toEqual(["Degraded NodesFailed: worker-1: set sriov_numvfs 2 on 0000:3b:00.0: ENOMEM"]);
  });

  it("is ready on a node that failed at another NIC", async () => {
    const elsewhere = { ...done, syncStatus: "Failed", lastSyncError: "set sriov_numvfs 9 on 0000:5e:00.0: ENOMEM" };
    expect((await statusOf({}, { "worker-1": elsewhere })).holds).toEqual([
      "Ready Configured: 1 of 1 nodes configured",
    ]);
  });

  it.each([
    {
      why: "selects no node",
      policy: { nodeSelector: { rack: "7" } },
      states: { "worker-1": fresh },
      ready: "NoNodesMatched",
    },
    {
      why: "matches no NIC",
      policy: { nicSelector: { pfNames: ["eno9"] } },
      states: { "worker-1": fresh },
      ready: "NoNicsMatched",
    },
  ])("has no condition that is True when it $why", async ({ policy, states, ready }) => {
    const result = await statusOf(policy, states);
    expect([result.holds, result.ready]).toEqual([[], ready]);
  });

  it("does not count with a merge result of an older generation of the policy", async () => {
    const cluster = createCluster();
    cluster.addConfig();
    cluster.addPolicy("fast");
    cluster.addNode("worker-1");
    cluster.mergeResults.set("worker-1", {
      spec: {},
      problems: [],
      matches: [],
      interfaces: [],
      generations: new Map([["fast", 0]]),
    });
    const kept = createKeepingWriter<SriovNetworkNodePolicy>();
    const reconcile = createPolicyStatusReconciler({ ...cluster, writer: kept.writer, ...quiet });
    expect(await reconcile("fast", never)).toEqual({ afterMs: 200 });
    expect(kept.statuses.size).toBe(0);
  });

  it("waits for the merge results of all nodes before it counts", async () => {
    const cluster = createCluster();
    cluster.addConfig();
    cluster.addPolicy("fast");
    cluster.addNode("worker-1");
    const kept = createKeepingWriter<SriovNetworkNodePolicy>();
    const reconcile = createPolicyStatusReconciler({ ...cluster, writer: kept.writer, ...quiet });
    expect(await reconcile("fast", never)).toEqual({ afterMs: 200 });
    expect(kept.statuses.size).toBe(0);
  });

  it.each([
    { why: "there is no SriovOperatorConfig", name: "fast", config: false, reason: "NoOperatorConfig" },
    { why: 'its name is "default"', name: "default", config: true, reason: "Ignored" },
  ])("reports it at once when $why", async ({ name, config, reason }) => {
    const cluster = createCluster();
    if (config) cluster.addConfig();
    cluster.addPolicy(name);
    cluster.addNode("worker-1");
    const kept = createKeepingWriter<SriovNetworkNodePolicy>();
    const reconcile = createPolicyStatusReconciler({ ...cluster, writer: kept.writer, ...quiet });
    expect(await reconcile(name, never)).toBeUndefined();
    const conditions = kept.statuses.get(name)?.conditions;
    expect(conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "Ready False",
      "Progressing False",
      "Degraded False",
    ]);
    expect(new Set(conditions?.map((condition) => condition.reason))).toEqual(new Set([reason]));
  });

  it("records a transition only if it wrote the status", async () => {
    const cluster = createCluster();
    cluster.addConfig();
    cluster.addPolicy("fast", { nodeSelector: { rack: "7" } });
    const kept = createKeepingWriter<SriovNetworkNodePolicy>();
    const told: string[] = [];
    const recordTransition: RecordTransition = ({ metadata }, { reason }) =>
      void told.push(`${metadata.name} ${reason}`);
    const reconcile = createPolicyStatusReconciler({ ...cluster, writer: kept.writer, ...quiet, recordTransition });
    await reconcile("fast", never);
    const unchanged = { ...kept.writer, applyStatus: () => Promise.resolve("unchanged" as const) };
    await createPolicyStatusReconciler({ ...cluster, writer: unchanged, ...quiet, recordTransition })("fast", never);
    expect(told).toEqual(["fast NoNodesMatched"]);
  });
});
