// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { defined, type InterfaceSpec, type VfStatus } from "@switchyard/api";
import { toCachedNodeState } from "../facts/cached-node-state.ts";
import { nic } from "../testing/cluster.ts";

const pciAddress = "0000:3b:00.0";
const spec: InterfaceSpec = {
  pciAddress,
  numVfs: 4,
  vfGroups: [
    { policyName: "fast", resourceName: "fast", vfRange: "0-1" },
    { policyName: "dpdk", resourceName: "dpdk", vfRange: "2-3", deviceType: "vfio-pci" },
  ],
};

function countsOf(drivers: readonly (string | undefined)[], wanted: InterfaceSpec = spec) {
  const Vfs = drivers.map((driver, vfID): VfStatus => {
    return { vfID, pciAddress: `0000:3b:02.${vfID}`, ...defined({ driver }) };
  });
  const status = { interfaces: [nic({ numVfs: drivers.length, Vfs })] };
  const metadata = { name: "worker-1" };
  return toCachedNodeState({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata,
    spec: { interfaces: [wanted] },
    status,
  }).configuredVfs;
}

describe("countConfiguredVfs", () => {
  it("counts VFs that exist with the right driver", () => {
    expect(countsOf(["iavf", "iavf", "vfio-pci", "vfio-pci"])).toEqual({ fast: 2, dpdk: 2 });
    expect(countsOf(["iavf", undefined, "iavf", "vfio-pci"])).toEqual({ fast: 1, dpdk: 1 });
  });

  it("counts no VFs of a PF whose number of VFs is about to change", () => {
    expect(countsOf(["iavf", "iavf"])).toEqual({});
  });

  it("ignores an invalid range", () => {
    expect(
      countsOf(["iavf"], { pciAddress, numVfs: 1, vfGroups: [{ policyName: "fast", vfRange: "eno1#0-9" }] }),
    ).toEqual({});
  });
});
