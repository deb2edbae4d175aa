// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { bridgeList, linuxBridgesOf } from "./node-devices.ts";

function stateOf(node: string, pfs: Readonly<Record<string, string>>): SriovNetworkNodeState {
  const pciAddresses = Object.keys(pfs);
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: node },
    spec: {
      interfaces: Object.entries(pfs).map(([pciAddress, resourceName]) => ({
        pciAddress,
        vfGroups: [{ resourceName: "other" }, { resourceName }],
      })),
      bridges: { linux: pciAddresses.map((pciAddress) => ({ name: `br-${pciAddress}`, uplinks: [{ pciAddress }] })) },
    },
  };
}

describe("linuxBridgesOf", () => {
  it("returns the bridges of all PFs with VFs of the resource, on all nodes, each once", () => {
    const states = [
      stateOf("a", { "3b:00.1": "nics", "3b:00.0": "nics" }),
      stateOf("b", { "3b:00.0": "nics", "86:00.0": "storage" }),
    ];
    expect(linuxBridgesOf("nics", states)).toEqual(["br-3b:00.0", "br-3b:00.1"]);
    expect(linuxBridgesOf("none", states)).toEqual([]);
  });

  it("omits Open vSwitch bridges", () => {
    const state = stateOf("a", { "3b:00.0": "nics" });
    const ovs = [{ name: "br-3b:00.0", uplinks: [{ pciAddress: "3b:00.0" }] }];
    expect(linuxBridgesOf("nics", [{ ...state, spec: { ...state.spec, bridges: { ovs } } }])).toEqual([]);
  });
});

describe("bridgeList", () => {
  it("repeats a single bridge, so that the plugin checks it", () => {
    expect(bridgeList([])).toBeUndefined();
    expect(bridgeList(["br0"])).toBe("br0,br0");
    expect(bridgeList(["br0", "br1", "br2"])).toBe("br0,br1,br2");
  });
});
