// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { labels } from "@switchyard/api";
import type { InventoryItem, Manifest, RenderedComponent } from "@switchyard/render";
import { countNodesWithoutDriver } from "../facts/claim-use.ts";
import { createCluster, nic } from "../testing/cluster.ts";
import { createComponentCluster } from "../testing/component-cluster.ts";
import { syncComponents } from "./sync-components.ts";

const namespace = "sriov-network-operator";
const daemonSets = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
const item: InventoryItem = { component: "dra-driver", type: daemonSets, name: "sriov-dra-driver", namespace };
const worker = { "node-role.kubernetes.io/worker": "" };

const runningOn = (nodeSelector: object) => ({ spec: { template: { spec: { nodeSelector } } } });

const driver: Manifest = {
  ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: item.name, namespace } },
  ...runningOn({ ...worker, [labels.draDriver]: "Enabled" }),
};
const component: RenderedComponent = { name: "dra-driver", state: "deployed", objects: [driver] };

describe("the driver of another operator", () => {
  async function syncOver(present: object | undefined, nodesWithoutDriver: number) {
    const { deps, put, history } = createComponentCluster([item]);
    if (present !== undefined) put("upstream", "DaemonSet", item.name, present);
    const all = { ...deps, countNodesWithoutDriver: () => nodesWithoutDriver };
    const { incomplete } = await syncComponents(all, [component], new AbortController().signal);
    return { incomplete, history };
  }

  it("is not replaced while its nodes lack the label, because all its pods would end at once", async () => {
    const waiting = (nodes: string) => ({
      history: [],
      incomplete: [`sriov-dra-driver of another operator is replaced when ${nodes} got the label ${labels.draDriver}`],
    });
    expect(await syncOver(runningOn(worker), 2)).toEqual(waiting("2 nodes have"));
    expect(await syncOver(runningOn({}), 1)).toEqual(waiting("1 node has"));
  });

  it("is replaced when all have it; nothing waits for a new DaemonSet and for the own one", async () => {
    const applied = { history: [item.name], incomplete: [] };
    expect(await syncOver(runningOn(worker), 0)).toEqual(applied);
    expect(await syncOver(undefined, 2)).toEqual(applied);
    expect(await syncOver(runningOn({ [labels.draDriver]: "Enabled" }), 2)).toEqual(applied);
  });
});

describe("nodes that are to run the driver", () => {
  const status = { interfaces: [nic()], syncStatus: "Succeeded" };
  const claims = { allocation: "dra", interfaces: [] } as const;

  function counted(
    state: Parameters<ReturnType<typeof createCluster>["setState"]>[1] | undefined,
    gate = true,
  ): number {
    const cluster = createCluster();
    cluster.addConfig({ featureGates: { dynamicResourceAllocation: gate } });
    cluster.addPolicy("fast");
    cluster.addNode("has-it", { [labels.draDriver]: "Enabled" });
    cluster.addNode("lacks-it");
    if (state !== undefined) cluster.setState("lacks-it", state);
    return countNodesWithoutDriver({ caches: cluster, rules: cluster.rules });
  }

  it("lack its label before their state is there, before their daemon reports, and before their spec has resources", () => {
    const withOther = { ...status, interfaces: [nic({ name: "ens9f9" })] };
    expect([undefined, { spec: claims }, { spec: claims, status }].map((state) => counted(state))).toEqual([1, 1, 1]);
    expect(counted({ spec: claims, status: withOther })).toBe(0); // no policy selects a PF
    expect(counted({ spec: claims, status }, false)).toBe(0);
  });
});
