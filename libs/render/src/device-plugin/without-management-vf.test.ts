// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, NicSelector, Node, SriovNetworkNodePolicy } from "@switchyard/api";
import { policyDevicePluginConfig } from "./policy-device-plugin-config.ts";
import { withoutManagementVf } from "./without-management-vf.ts";

const card = { vendor: "15b3", deviceID: "a2d6", numVfs: 8 };
const interfaces: readonly InterfaceStatus[] = [
  { pciAddress: "0000:3b:00.0", name: "ens1f0np0", altNames: ["alt0"], ...card },
  { pciAddress: "0000:3b:00.1", name: "ens1f1np1", ...card },
  { pciAddress: "0000:86:00.0", name: "ens2", vendor: "15b3", deviceID: "101d" },
];

function node(labels: Readonly<Record<string, string>> = { "switchyard.io/ovn-offload-pool": "dpu-host" }): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "h1", labels } };
}

function policy(nicSelector: NicSelector, spec = {}): SriovNetworkNodePolicy {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "p" },
    spec: { resourceName: "a", nodeSelector: {}, numVfs: 8, nicSelector, ...spec },
  };
}

const pfNamesOf = (policies: readonly SriovNetworkNodePolicy[]) => policies.map(({ spec }) => spec.nicSelector.pfNames);

describe("withoutManagementVf", () => {
  it.each<{ nicSelector: NicSelector; pfNames: readonly (readonly string[])[] }>([
    { nicSelector: { vendor: "15b3" }, pfNames: [["ens1f0np0#1-7", "ens1f1np1", "ens2"]] },
    { nicSelector: { vendor: "15b3", deviceID: "101d" }, pfNames: [["ens2"]] },
    { nicSelector: { rootDevices: ["0000:3b:00.0"] }, pfNames: [["ens1f0np0#1-7"]] },
    { nicSelector: { pfNames: ["ens1f0np0"] }, pfNames: [["ens1f0np0#1-7"]] },
    { nicSelector: { pfNames: ["alt0#0-3"] }, pfNames: [["alt0#1-3"]] },
    { nicSelector: { pfNames: ["ens1f0np0#2-3", "ens1f1np1#0-3"] }, pfNames: [["ens1f0np0#2-3", "ens1f1np1#0-3"]] },
    { nicSelector: { pfNames: ["ens1f0np0#0-0", "ens2"] }, pfNames: [["ens2"]] },
    { nicSelector: { pfNames: ["ens1f0np0#0-0"] }, pfNames: [] },
    { nicSelector: { pfNames: ["ens1f0np0#"] }, pfNames: [] },
    { nicSelector: { deviceID: "158b" }, pfNames: [] },
  ])("changes $nicSelector", ({ nicSelector, pfNames }) => {
    expect(pfNamesOf(withoutManagementVf([policy(nicSelector)], { node: node(), interfaces }))).toEqual(pfNames);
  });

  it("gives VF 0 to its resource, and nothing else", () => {
    const labels = { ...node().metadata.labels, "switchyard.io/ovn-management-resource": "mgmt" };
    const all = [policy({ vendor: "15b3" }), policy({ pfNames: ["ens2"] }, { resourceName: "mgmt" })];
    const policies = withoutManagementVf(all, { node: node(labels), interfaces });
    const { config } = policyDevicePluginConfig({ policies, interfaces, nics: [] });
    expect(config.resourceList?.map(({ resourceName, selectors }) => [resourceName, selectors.pfNames])).toEqual([
      ["a", ["ens1f0np0#1-7", "ens1f1np1", "ens2"]],
      ["mgmt", ["ens1f0np0#0-0"]],
    ]);
  });

  it("changes nothing on other nodes", () => {
    const all = [policy({ vendor: "15b3" })];
    expect(withoutManagementVf(all, { node: node({}), interfaces })).toBe(all);
    expect(withoutManagementVf(all, { node: node(), interfaces: interfaces.slice(2) })).toBe(all);
  });
});
