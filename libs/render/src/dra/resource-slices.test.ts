// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { draDriverName, type InterfaceStatus, type ResourceSlice, type SriovNetworkNodeState } from "@switchyard/api";
import { indexSlices, readSlice } from "@switchyard/policy";
import { renderResourceSlices, type ResourceSlicesInput } from "./resource-slices.ts";

/** Returns the state of a node whose PFs have these numbers of VFs: VF 17 of PF 1 is "0000:11:02.1". */
function stateOf(counts: readonly number[], nic: Partial<InterfaceStatus> = {}): SriovNetworkNodeState {
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  const pfs = counts.map((count, pf) => ({ pciAddress: `0000:${hex(pf)}:00.0`, count, pf }));
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: {
      interfaces: pfs.map(({ pciAddress, count }) => ({
        pciAddress,
        vfGroups: [{ resourceName: "fast_net", vfRange: `0-${Math.max(count - 1, 0)}` }],
      })),
    },
    status: {
      interfaces: pfs.map(({ pciAddress, count, pf }) => ({
        pciAddress,
        name: `ens${pf}`,
        ...nic,
        Vfs: Array.from({ length: count }, (_, vfID) => ({
          pciAddress: `0000:${hex(0x10 + pf + 0x20 * (vfID >> 8))}:${hex((vfID >> 3) & 31)}.${vfID & 7}`,
          vfID,
        })),
      })),
    },
  };
}

function slicesOf(counts: readonly number[], more: Partial<ResourceSlicesInput> = {}): readonly ResourceSlice[] {
  const fixed = { nodeName: "worker-1", nodeUid: "u", resources: { prefix: "openshift.io" } };
  return renderResourceSlices({ ...fixed, state: stateOf(counts), withheld: new Map(), taints: new Map(), ...more });
}

const sizes = (slices: readonly ResourceSlice[]) => slices.map(({ spec }) => spec.devices.length);

describe("renderResourceSlices", () => {
  it.each([
    { counts: [300], expected: [64, 64, 64, 64, 44] },
    { counts: [150, 150], expected: [64, 64, 64, 64, 44] },
    { counts: [60, 60, 60, 60, 60], expected: [60, 60, 60, 60, 60] },
    { counts: [8, 8], expected: [16] },
    { counts: [0], expected: [] },
  ])("puts $counts VFs into slices of $expected devices", ({ counts, expected }) => {
    const slices = slicesOf(counts);
    expect(sizes(slices)).toEqual(expected);
    expect(slices.map(({ spec }) => spec.pool)).toEqual(
      expected.map(() => ({ name: "worker-1", generation: 1, resourceSliceCount: expected.length })),
    );
    expect(slices.map(({ metadata }) => metadata.name)).toEqual(expected.map((_, index) => `worker-1-sriov-${index}`));
  });

  it("publishes each VF once, below the limits of the API server, whatever the order of the status", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(130), { maxLength: 6 }), (counts) => {
        const slices = slicesOf(counts);
        const devices = slices.flatMap(({ spec }) => spec.devices);
        expect(devices.map(({ name }) => name).sort()).toEqual([...new Set(devices.map(({ name }) => name))].sort());
        expect(devices).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
        expect(Math.max(0, ...sizes(slices))).toBeLessThanOrEqual(64);
        expect(Math.max(0, ...devices.map(({ attributes }) => Object.keys(attributes).length))).toBeLessThanOrEqual(32);
        const state = stateOf(counts);
        const interfaces = state.status?.interfaces?.map((nic) => ({ ...nic, Vfs: nic.Vfs?.toReversed() ?? [] })) ?? [];
        expect(slicesOf(counts, { state: { ...state, status: { interfaces: interfaces.reverse() } } })).toEqual(slices);
      }),
      { numRuns: 50 },
    );
  });

  it("changes one slice when one VF changes", () => {
    const state = stateOf([100, 40]);
    const [first, ...others] = state.status?.interfaces ?? [];
    const Vfs = (first?.Vfs ?? []).map((vf) => (vf.vfID === 3 ? { ...vf, driver: "vfio-pci" } : vf));
    const changed = { ...state, status: { interfaces: [{ ...first, pciAddress: "0000:00:00.0", Vfs }, ...others] } };
    const [before, after] = [slicesOf([100, 40]), slicesOf([100, 40], { state: changed })];
    expect(after.filter((slice, index) => JSON.stringify(slice) !== JSON.stringify(before[index]))).toHaveLength(1);
  });

  it("has the attributes of dra-driver-sriov, of Kubernetes, and its own", () => {
    const nic = { pcieRoot: "pci0000:10", numaNode: 1, linkSpeed: "25000 Mb/s", linkType: "ETH", vendor: "8086" };
    const state = stateOf([1], { ...nic, eSwitchMode: "legacy", deviceID: "158b" });
    const device = slicesOf([1], { state })[0]?.spec.devices[0];
    expect(device).toEqual({
      name: "0000-10-00-0",
      attributes: {
        [`${draDriverName}/pciAddress`]: { string: "0000:10:00.0" },
        [`${draDriverName}/PFName`]: { string: "ens0" },
        [`${draDriverName}/pfPciAddress`]: { string: "0000:00:00.0" },
        [`${draDriverName}/EswitchMode`]: { string: "legacy" },
        [`${draDriverName}/vendor`]: { string: "8086" },
        [`${draDriverName}/pfDeviceID`]: { string: "158b" },
        [`${draDriverName}/vfID`]: { int: 0 },
        [`${draDriverName}/resourceName`]: { string: "fast_net" },
        [`${draDriverName}/linkType`]: { string: "ethernet" },
        [`${draDriverName}/rdmaCapable`]: { bool: false },
        [`${draDriverName}/linkSpeed`]: { int: 25_000 },
        [`${draDriverName}/rail`]: { int: 0 },
        "k8s.cni.cncf.io/resourceName": { string: "openshift.io/fast_net" },
        "k8s.cni.cncf.io/deviceID": { string: "0000:10:00.0" },
        "resource.kubernetes.io/pciBusID": { string: "0000:10:00.0" },
        "resource.kubernetes.io/pcieRoot": { string: "pci0000:10" },
        "resource.kubernetes.io/numaNode": { int: 1 },
        "dra.net/numaNode": { int: 1 },
      },
    });
    const index = indexSlices(slicesOf([1], { state }).flatMap((slice) => readSlice(slice) ?? []));
    const allocated = { driver: draDriverName, pool: "worker-1", device: "0000-10-00-0" };
    expect(index.addressesOf(allocated)).toEqual(["0000:10:00.0", "0000:00:00.0"]);
  });

  it("numbers the PFs that have resources, also while one of them is gone", () => {
    const railsOf = (state: SriovNetworkNodeState) => {
      const devices = slicesOf([1, 1, 1], { state }).flatMap(({ spec }) => spec.devices);
      return devices.map(({ attributes }) => attributes[`${draDriverName}/rail`]);
    };
    const state = stateOf([1, 1, 1]);
    expect(railsOf(state)).toEqual([{ int: 0 }, { int: 1 }, { int: 2 }]);
    const interfaces = state.status?.interfaces?.slice(1) ?? [];
    expect(railsOf({ ...state, status: { interfaces } })).toEqual([{ int: 1 }, { int: 2 }]);
  });

  it("leaves out VFs that another process can give away, and taints the others that claims must not have", () => {
    const withheld = new Map([
      ["0000:10:00.0", { reason: "held", message: "" }],
      ["0000:10:00.1", { reason: "offered", message: "" }],
      ["0000:10:00.2", { reason: "draining", message: "" }],
    ] as const);
    const down = { key: "switchyard.io/link", value: "down", effect: "NoSchedule" } as const;
    const taints = new Map([["0000:00:00.0", [down]]]);
    const devices = slicesOf([4], { withheld, taints })[0]?.spec.devices ?? [];
    expect(devices.map(({ name, taints: found }) => ({ name, found }))).toEqual([
      {
        name: "0000-10-00-2",
        found: [{ key: "switchyard.io/vf-withheld", value: "draining", effect: "NoSchedule" }, down],
      },
      { name: "0000-10-00-3", found: [down] },
    ]);
  });

  it("leaves out VFs without a resource, malformed addresses and values that the API server refuses", () => {
    const Vfs = ["0000:10:00.0", "0000:10:00.0", "../../etc", "0000:10:00.1"].map((pciAddress, vfID) => ({
      pciAddress,
      vfID,
      rdmaDevice: "x".repeat(65),
    }));
    const pciAddress = "0000:00:00.0";
    const state: SriovNetworkNodeState = {
      ...stateOf([]),
      spec: { interfaces: [{ pciAddress, vfGroups: [{ resourceName: "a", vfRange: "0-2" }, { vfRange: "3-3" }] }] },
      status: { interfaces: [{ pciAddress, Vfs }] },
    };
    const devices = slicesOf([], { state })[0]?.spec.devices ?? [];
    expect(devices.map(({ name }) => name)).toEqual(["0000-10-00-0"]);
    expect(devices[0]?.attributes[`${draDriverName}/rdmaDevice`]).toBeUndefined();
  });
});
