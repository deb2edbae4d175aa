// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { BridgeNetwork, BridgeNetworkSpec, SriovNetworkNodePolicy, SriovNetworkNodeState } from "@switchyard/api";
import { renderNetwork } from "./render-network.ts";
import { unfilteredBridgePolicies, unfilteredBridgesOf } from "./vlan-filtering.ts";

type State = Pick<SriovNetworkNodeState, "spec">;

function stateOf(pciAddress: string, vlanFiltering?: boolean): State {
  const name = `br-${pciAddress.replaceAll(":", "_")}`;
  const bridge = { name, ...(vlanFiltering !== undefined && { bridge: { vlanFiltering } }), uplinks: [{ pciAddress }] };
  return {
    spec: { interfaces: [{ pciAddress, vfGroups: [{ resourceName: "nics" }] }], bridges: { linux: [bridge] } },
  };
}

function policyOf(name: string, resourceName: string, bridge: SriovNetworkNodePolicy["spec"]["bridge"]) {
  const head = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy" } as const;
  const spec = { nicSelector: {}, nodeSelector: {}, numVfs: 4, resourceName, ...(bridge && { bridge }) };
  return { ...head, metadata: { name }, spec };
}

const plain = stateOf("0000:3b:00.0");

describe("unfilteredBridgesOf", () => {
  it("returns the bridges of the resource that do not filter on some node", () => {
    const states = [
      plain,
      stateOf("0000:3b:00.0", true),
      stateOf("0000:86:00.0", true),
      stateOf("0000:af:00.0", false),
    ];
    expect(unfilteredBridgesOf({ resourceName: "nics" }, states)).toEqual(["br-0000_3b_00.0", "br-0000_af_00.0"]);
    expect(unfilteredBridgesOf({ resourceName: "others" }, states)).toEqual([]);
  });

  it("looks only at the bridges that spec.bridge names, however the list is written", () => {
    const states = [plain, stateOf("0000:af:00.0")];
    expect(unfilteredBridgesOf({ resourceName: "nics", bridge: " br0 , br-0000_af_00.0 " }, states)).toEqual([
      "br-0000_af_00.0",
    ]);
    expect(unfilteredBridgesOf({ resourceName: "nics", bridge: "br0" }, states)).toEqual([]);
  });
});

describe("unfilteredBridgePolicies", () => {
  const policies = [
    policyOf("plain", "nics", { linux: {} }),
    policyOf("off", "nics", { linux: { bridge: { vlanFiltering: false } } }),
    policyOf("on", "nics", { linux: { bridge: { vlanFiltering: true } } }),
    policyOf("ovs", "nics", { ovs: {} }),
    policyOf("none", "nics", undefined),
    policyOf("other", "others", { linux: {} }),
  ];

  it("returns the policies of the resource with a Linux bridge that does not filter", () => {
    expect(unfilteredBridgePolicies({ resourceName: "nics" }, policies)).toEqual(["off", "plain"]);
  });

  it("returns none if spec.bridge names bridges that no policy creates", () => {
    expect(unfilteredBridgePolicies({ resourceName: "nics", bridge: "br0" }, policies)).toEqual([]);
    expect(unfilteredBridgePolicies({ resourceName: "nics", bridge: "br0,br-0000_3b_00.0" }, policies)).toEqual([
      ...["off", "plain"],
    ]);
  });
});

describe("renderNetwork of a BridgeNetwork", () => {
  function render(spec: Partial<BridgeNetworkSpec>, unfilteredBridges: readonly string[]) {
    const network: BridgeNetwork = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "BridgeNetwork",
      metadata: { name: "blue", namespace: "ns" },
      spec: { resourceName: "nics", ...spec },
    };
    return renderNetwork(network, { resourcePrefix: "openshift.io", bridges: ["br0"], unfilteredBridges });
  }

  it.each([
    { what: "a vlan", spec: { vlan: 100 }, fields: ["spec.vlan"] },
    { what: "a trunk", spec: { trunk: [{ id: 10 }] }, fields: ["spec.trunk"] },
    { what: "both", spec: { vlan: 100, trunk: [{ id: 10 }] }, fields: ["spec.vlan", "spec.trunk"] },
  ])("is refused with $what if a bridge does not filter, and names the field to set", ({ spec, fields }) => {
    const rendered = render(spec, ["br-0000_3b_00.0"]);
    const problems = rendered.ok ? [] : rendered.error;
    expect(problems.map(({ field }) => field)).toEqual(fields);
    expect(problems[0]?.message).toBe(
      "needs a bridge that filters by VLAN, but the Linux bridge br-0000_3b_00.0 does not, so pods of all VLANs would share " +
        "one segment: set spec.bridge.linux.bridge.vlanFiltering to true in each SriovNetworkNodePolicy with resourceName nics",
    );
  });

  it("names at most four bridges", () => {
    const rendered = render({ vlan: 1 }, ["b1", "b2", "b3", "b4", "b5"]);
    expect(rendered.ok ? "" : rendered.error[0]?.message).toContain(
      "the Linux bridges b1, b2, b3, b4 and 1 more do not",
    );
  });

  it.each([
    { what: "without VLANs", spec: {}, bridges: ["br0"] },
    { what: "with vlan 0 and an empty trunk", spec: { vlan: 0, trunk: [] }, bridges: ["br0"] },
    { what: "with a vlan on bridges that filter", spec: { vlan: 100 }, bridges: [] },
  ])("is rendered $what", ({ spec, bridges }) => {
    expect(render(spec, bridges).ok).toBe(true);
  });
});
