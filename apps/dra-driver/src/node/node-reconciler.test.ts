// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok, type ResourceSlice, type SriovNetworkNodeState } from "@switchyard/api";
import type { DraDeviceHealth } from "@switchyard/kubelet";
import { allocationOf } from "@switchyard/policy";
import { silentLogger } from "@switchyard/service/testing";
import type { KubeletDevices } from "../slices/withheld-from-claims.ts";
import { createNodeReconciler, type NodeReconcilerDeps } from "./node-reconciler.ts";

const never = new AbortController().signal;
const pf = "0000:01:00.0";
const address = (nth: number) =>
  `0000:0${2 + (nth >> 8)}:${((nth >> 3) & 31).toString(16).padStart(2, "0")}.${nth & 7}`;

/** A node with VFs on one PF, whose API server is a list of slices. */
function nodeWith(count: number) {
  const vfs = Array.from({ length: count }, (_, vfID) => ({
    pciAddress: address(vfID),
    vfID,
    driver: "iavf",
    name: `v${vfID}`,
    adminMac: "02:00:00:00:00:01",
  }));
  const nic = {
    pciAddress: pf,
    owned: true,
    totalvfs: 512,
    numVfs: count,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
  };
  const node = {
    state: {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name: "worker-1" },
      spec: {
        allocation: "dra",
        interfaces: [
          { pciAddress: pf, numVfs: count, vfGroups: [{ resourceName: "fast", vfRange: `0-${count - 1}` }] },
        ],
      },
      status: { bootID: "b1", offeredBy: "dra", interfaces: [{ ...nic, Vfs: vfs }] },
    } as SriovNetworkNodeState,
    slices: [] as ResourceSlice[],
    applied: 0,
    deleted: 0,
    handedOver: 0,
    kubelet: { holders: new Map(), offered: new Set() } as KubeletDevices | undefined,
    allocated: new Set<string>(),
    health: [] as readonly DraDeviceHealth[],
    carrier: "1",
    nowMs: 0,
  };
  const deps: NodeReconcilerDeps = {
    nodeName: "worker-1",
    resourcePrefix: "openshift.io",
    host: {
      boot: { readBootId: () => Promise.resolve("b1") },
      sriov: { readBinding: () => Promise.resolve({ driver: "ice", incarnation: "1" }) },
      devlink: { listHealthReporters: () => Promise.resolve([]) },
      files: { readKind: () => Promise.resolve("link"), readText: () => Promise.resolve(node.carrier) },
    } as unknown as NodeReconcilerDeps["host"],
    state: () => node.state,
    readAllocation: () => Promise.resolve(allocationOf(node.state)),
    handOver() {
      node.handedOver++;
      return Promise.resolve();
    },
    slices: () => node.slices,
    readNodeUid: () => Promise.resolve("uid"),
    kubelet: { read: () => Promise.resolve(node.kubelet === undefined ? err("UNAVAILABLE") : ok(node.kubelet)) },
    records: () => Promise.resolve([]),
    allocated: () => Promise.resolve(node.allocated),
    writer: {
      apply(slice) {
        node.applied++;
        const stored = { apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", ...slice } as ResourceSlice;
        node.slices = [...node.slices.filter(({ metadata }) => metadata.name !== slice.metadata.name), stored];
        return Promise.resolve("written");
      },
      delete({ metadata }) {
        node.deleted++;
        node.slices = node.slices.filter((slice) => slice.metadata.name !== metadata.name);
        return Promise.resolve();
      },
    },
    setHealth(devices) {
      node.health = devices;
    },
    report: () => Promise.resolve(),
    nowMs: () => node.nowMs,
    log: silentLogger,
  };
  const reconcile = createNodeReconciler(deps);
  return Object.assign(node, {
    /** Reconciles, and returns the number of slices that were applied and deleted. */
    async pass() {
      const before = { applied: node.applied, deleted: node.deleted };
      await reconcile("worker-1", never);
      return { applied: node.applied - before.applied, deleted: node.deleted - before.deleted };
    },
    changeVf(vfID: number, fields: object) {
      const { state } = node;
      const [first] = state.status?.interfaces ?? [];
      const Vfs = (first?.Vfs ?? []).map((vf) => (vf.vfID === vfID ? { ...vf, ...fields } : vf));
      node.state = { ...state, status: { ...state.status, interfaces: [{ ...nic, Vfs }] } };
    },
    devices: () => node.slices.flatMap(({ spec }) => spec.devices),
  });
}

describe("the slices of a node", () => {
  it("are five for 300 VFs, one write for one changed VF, and no write when nothing changes", async () => {
    const node = nodeWith(300);
    expect(await node.pass()).toEqual({ applied: 5, deleted: 0 });
    expect(node.slices.map(({ spec }) => spec.devices.length)).toEqual([64, 64, 64, 64, 44]);
    expect(await node.pass()).toEqual({ applied: 0, deleted: 0 });
    node.changeVf(70, { mtu: 9000 });
    expect(await node.pass()).toEqual({ applied: 1, deleted: 0 });
    expect(new Set(node.slices.map(({ spec }) => spec.pool.generation))).toEqual(new Set([1]));
    expect(await node.pass()).toEqual({ applied: 0, deleted: 0 });
  });

  it("stay when the kubelet or the daemon says nothing", async () => {
    const node = nodeWith(8);
    await node.pass();
    node.kubelet = undefined;
    node.state = { ...node.state, status: { offeredBy: "dra" } };
    expect(await node.pass()).toEqual({ applied: 0, deleted: 0 });
    expect(node.devices()).toHaveLength(8);
  });

  it("are not written before the kubelet says who has VFs", async () => {
    const node = nodeWith(8);
    node.kubelet = undefined;
    expect(await node.pass()).toEqual({ applied: 0, deleted: 0 });
  });

  it("get a VF that a pod has from the device plugin when that pod has ended", async () => {
    const node = nodeWith(2);
    const pod = { namespace: "default", name: "web-0", via: "device-plugin", resource: "openshift.io/fast" } as const;
    node.kubelet = { holders: new Map([[address(1), [pod]]]), offered: new Set() };
    await node.pass();
    expect(node.devices()).toHaveLength(1);
    node.kubelet = { holders: new Map(), offered: new Set() };
    await node.pass();
    expect(node.devices()).toHaveLength(2);
  });

  it("lose free VFs and keep allocated ones when the node returns to the device plugin, which may then begin", async () => {
    const node = nodeWith(3);
    await node.pass();
    const { spec: { allocation: _wanted, ...spec } = {}, ...state } = node.state;
    node.state = { ...state, spec };
    node.allocated = new Set([address(2)]);
    await node.pass();
    expect(node.devices().map(({ taints }) => taints?.[0]?.value)).toEqual(["moving", "moving", "moving"]);
    node.nowMs = 2_000; // the scheduler has seen that
    await node.pass();
    expect(node.devices()).toEqual([
      expect.objectContaining({ taints: [expect.objectContaining({ value: "moving" })] }),
    ]);
    expect(node.handedOver).toBeGreaterThan(0);
    node.allocated = new Set();
    await node.pass();
    expect(node.slices).toEqual([]);
  });

  it("and the kubelet say when the link is down", async () => {
    const node = nodeWith(2);
    node.changeVf(0, {});
    node.state = {
      ...node.state,
      status: {
        ...node.state.status,
        interfaces: (node.state.status?.interfaces ?? []).map((nic) => ({ ...nic, name: "ens1f0" })),
      },
    };
    node.carrier = "0";
    await node.pass();
    expect(node.devices().map(({ taints }) => taints?.[0]?.value)).toEqual(["no-carrier", "no-carrier"]);
    expect(node.health.map(({ health }) => health)).toEqual(["unhealthy", "unhealthy"]);
  });
});
