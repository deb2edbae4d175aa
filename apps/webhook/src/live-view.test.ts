// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createStateReader } from "@switchyard/admission";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  configMaps,
  machineConfigPools,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type MachineConfigPool,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { ObjectStore } from "@switchyard/kube";
import { supportedNics } from "@switchyard/policy";
import type { ConfigMap } from "./cluster-caches.ts";
import { createLiveView } from "./live-view.ts";

const namespace = "ns";
const apiVersion = "sriovnetwork.openshift.io/v1" as const;

/** Caches that a test fills itself. */
function createCaches() {
  const readState = createStateReader();
  return {
    nodes: new ObjectStore({ type: nodes, project: ({ metadata: { name, labels = {} } }: Node) => ({ name, labels }) }),
    states: new ObjectStore({
      type: sriovNetworkNodeStates,
      namespace,
      project: (state: SriovNetworkNodeState) => readState(state),
    }),
    policies: new ObjectStore({
      type: sriovNetworkNodePolicies,
      namespace,
      project: (policy: SriovNetworkNodePolicy) => policy,
    }),
    pools: new ObjectStore({
      type: sriovNetworkPoolConfigs,
      namespace,
      project: (pool: SriovNetworkPoolConfig) => pool,
    }),
    operatorConfigs: new ObjectStore({
      type: sriovOperatorConfigs,
      namespace,
      project: (config: SriovOperatorConfig) => config,
    }),
    nicLists: new ObjectStore({
      type: configMaps,
      namespace,
      project: ({ data = {} }: ConfigMap): readonly string[] => Object.values(data),
    }),
    afxdpPolicies: new ObjectStore({
      type: afxdpNetworkNodePolicies,
      namespace,
      project: (policy: AfxdpNetworkNodePolicy) => policy,
    }),
    afxdpConfigs: new ObjectStore({
      type: afxdpOperatorConfigs,
      namespace,
      project: (config: AfxdpOperatorConfig) => config,
    }),
    afxdpStates: new ObjectStore({
      type: afxdpNetworkNodeStates,
      namespace,
      project: ({ metadata: { name }, status = {} }: AfxdpNetworkNodeState) => ({ name, status }),
    }),
  };
}

describe("createLiveView", () => {
  it("joins nodes with their states, and returns the same object until a cache changes", () => {
    const caches = createCaches();
    const view = createLiveView(caches, { namespace, devMode: false });
    caches.nodes.upsert({ apiVersion: "v1", kind: "Node", metadata: { name: "w1", labels: { a: "b" }, uid: "1" } });
    const before = view();
    expect(before.nodes).toEqual([{ name: "w1", labels: { a: "b" }, state: undefined }]);
    expect(view()).toBe(before);
    const state = { status: { interfaces: [{ pciAddress: "0000:3b:00.0" }], syncStatus: "InProgress" } };
    const metadata = { name: "w1", namespace, uid: "2" };
    caches.states.upsert({ apiVersion, kind: "SriovNetworkNodeState", metadata, ...state });
    expect(view().nodes[0]?.state).toMatchObject({
      layout: [{ pciAddress: "0000:3b:00.0" }],
      syncStatus: "InProgress",
    });
    expect(before.nodes[0]?.state).toBeUndefined();
  });

  it("knows upstream's NICs and those in the cluster's ConfigMap", () => {
    const caches = createCaches();
    const view = createLiveView(caches, { namespace, devMode: false });
    expect(view().nics).toEqual({ known: supportedNics, unlisted: "warn" });
    const data = { Mine: "DEAD beef 0001", Broken: "dead" };
    const metadata = { name: "supported-nic-ids", namespace, uid: "1" };
    const configMap: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
    caches.nicLists.upsert(configMap);
    expect(view().nics.known.slice(supportedNics.length)).toEqual([{ vendor: "dead", pf: "beef", vf: "0001" }]);
  });

  it("has pods once all of them are known", () => {
    const pods = {
      synced: false,
      ages: [],
      on: (node: string) => [{ resources: [node], pfs: [], isUncertain: false }],
    };
    const view = createLiveView(createCaches(), { namespace, devMode: false, pods })();
    expect(view.podsOn).toBeUndefined();
    pods.synced = true;
    expect(view.podsOn?.("w1").map(({ resources }) => resources)).toEqual([["w1"]]);
  });

  it("knows MachineConfigPools once they are listed, and that a cluster has none", () => {
    const pools = new ObjectStore({ type: machineConfigPools, project: (pool: MachineConfigPool) => pool });
    const view = createLiveView({ ...createCaches(), machineConfigPools: pools }, { namespace, devMode: false });
    expect(view().machineConfigPools).toBeUndefined();
    const metadata = { name: "dpu-host", uid: "1" };
    const pool = { apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfigPool", metadata } as const;
    pools.beginList();
    pools.upsert(pool);
    pools.endList("1");
    expect(view().machineConfigPools).toEqual([pool]);
    pools.notServed();
    expect(view().machineConfigPools).toBe("not-served");
    expect(createLiveView(createCaches(), { namespace, devMode: false })().machineConfigPools).toBe("not-served");
  });

  it("applies supportedNics of the SriovOperatorConfig", () => {
    const caches = createCaches();
    const view = createLiveView(caches, { namespace, devMode: false });
    const strict: SriovOperatorConfig = {
      apiVersion,
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace, uid: "1" },
      spec: { supportedNics: "strict" },
    };
    caches.operatorConfigs.upsert(strict);
    expect(view().nics.unlisted).toBe("refuse");
    expect(createLiveView(caches, { namespace, devMode: true })().nics.unlisted).toBe("any");
  });
});
