// SPDX-License-Identifier: Apache-2.0
/**
 * Externally managed PFs with the operator and the config daemons as processes on a real API server: another tool creates VFs
 * on fake kernels, before and after the policies.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicySpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { igb, pci } from "@switchyard/host/testing";
import { applyPolicy, type NodeLog, policyIs, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { createWorker, startWatchedCluster, type WatchedCluster } from "../../src/nodes/fake-worker.ts";

const pf = pci("0000:01:00.0");
let watched: WatchedCluster;
let testCluster: TestCluster;
let news: NodeLog;

beforeAll(async () => {
  watched = await startWatchedCluster();
  ({ testCluster, news } = watched);
}, 600_000);

afterAll(async () => {
  await watched[Symbol.asyncDispose]();
}, 60_000);

/** A policy for VFs 1 and 2 of four VFs that another tool creates. */
function policyFor(node: string, overrides: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicySpec {
  return {
    nodeSelector: { "kubernetes.io/hostname": node },
    nicSelector: { pfNames: ["enp1s0f0#1-2"] },
    resourceName: "fast",
    numVfs: 4,
    externallyManaged: true,
    ...overrides,
  };
}

function statusIs(node: string, what: string, holds: (status: SriovNetworkNodeStateStatus) => boolean) {
  return eventually(`${node}: ${what}`, () => {
    const state = news.states.get(node);
    const isCurrent = state?.status?.observedGeneration === state?.metadata.generation;
    return state?.status !== undefined && isCurrent && holds(state.status) ? state.status : undefined;
  });
}

function failsWith(node: string, text: string) {
  return statusIs(node, `fails with "${text}"`, ({ syncStatus, lastSyncError = "" }) => {
    return syncStatus === "Failed" && lastSyncError.includes(text);
  });
}

/** The message of the policy's condition Degraded. */
function degradedMessage(name: string): string {
  const conditions = news.policies.get(name)?.status?.conditions ?? [];
  return conditions.find(({ type, status }) => type === "Degraded" && status === "True")?.message ?? "";
}

describe("an externally managed PF", () => {
  it("fails policy and node with the reason until the host has what the policy requests, without a new event", async () => {
    await using worker = await createWorker(testCluster, "late", [igb(pf)]);
    const { kernel } = worker;
    worker.startDaemon();
    await applyPolicy(testCluster, "late", policyFor("late", { mtu: 3_000 }));
    await failsWith("late", `4 VFs requested, but ${pf} is externally managed and has 0`);
    await policyIs(news, "late", "Degraded");
    expect(degradedMessage("late")).toContain(`${pf} is externally managed and has 0`);
    expect(kernel.writes.filter(({ method }) => method === "setNumVfs")).toEqual([]);

    await kernel.setNumVfsByHand(pf, 4);
    await failsWith("late", `MTU 3000 requested, but ${pf} is externally managed and has MTU 1500`);
    await kernel.host().links.setMtu("enp1s0f0", 3_000);
    await policyIs(news, "late", "Ready");

    await kernel.setNumVfsByHand(pf, 0);
    await failsWith("late", "externally managed and has 0");
    await policyIs(news, "late", "Degraded");
    await kernel.setNumVfsByHand(pf, 4);
    await policyIs(news, "late", "Ready");
    const mtus = await statusIs("late", "VFs are configured", ({ interfaces }) => {
      return interfaces?.[0]?.Vfs?.filter(({ mtu }) => mtu === 3_000).length === 2;
    });
    expect(mtus.interfaces?.[0]).toMatchObject({ numVfs: 4, mtu: 3_000, externallyManaged: true });
    await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "late"]);
  }, 120_000);

  it("keeps its VFs when the policy changes who manages it, when the daemon restarts, and without the policy", async () => {
    await using worker = await createWorker(testCluster, "shared", [igb(pf)]);
    const { kernel } = worker;
    await kernel.setNumVfsByHand(pf, 4);
    worker.startDaemon();
    for (const externallyManaged of [true, false, true]) {
      await applyPolicy(testCluster, "shared", policyFor("shared", { externallyManaged }));
      await policyIs(news, "shared", "Ready");
      await statusIs("shared", "manager is reported", ({ interfaces }) => {
        return (interfaces?.[0]?.externallyManaged === true) === externallyManaged;
      });
    }
    await worker.daemon.kill();
    const writes = kernel.writes.length;
    const annotations = () => news.states.get("shared")?.metadata.annotations;
    const before = annotations();
    worker.startDaemon();
    await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "shared"]);
    await statusIs("shared", "is released", ({ interfaces }) => interfaces?.[0]?.owned !== true);
    expect(kernel.writes.slice(writes).map(({ port, method }) => `${port}.${method}`)).toEqual(["records.remove"]);
    expect((await kernel.host().sriov.readPf(pf))?.sriov?.numVfs).toBe(4);
    expect(annotations()).toEqual(before); // no drain was requested
  }, 120_000);

  it("is left to the policy of higher priority if two policies disagree, and the other one says so", async () => {
    await using worker = await createWorker(testCluster, "split", [igb(pf)]);
    await worker.kernel.setNumVfsByHand(pf, 4);
    worker.startDaemon();
    await applyPolicy(testCluster, "split", policyFor("split", { priority: 1 }));
    const own = {
      priority: 99,
      resourceName: "own",
      nicSelector: { pfNames: ["enp1s0f0#3-3"] },
      externallyManaged: false,
    };
    await applyPolicy(testCluster, "split-own", policyFor("split", own));
    await policyIs(news, "split", "Ready");
    await policyIs(news, "split-own", "Degraded");
    expect(degradedMessage("split-own")).toContain("must be true, as in policy split");
    expect(news.states.get("split")?.spec?.interfaces).toMatchObject([{ externallyManaged: true, numVfs: 4 }]);
    await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "split", "split-own"]);
  }, 120_000);
});
