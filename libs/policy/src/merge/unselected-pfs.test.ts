// SPDX-License-Identifier: Apache-2.0
/**
 * Tests when mergePolicies allows a node to reset a PF that Switchyard configured: never while information is missing.
 */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import fc from "fast-check";
import { mergePolicies } from "./merge-policies.ts";
import { createRules } from "./rules.ts";
import { nics, node, policy } from "../testing/objects.ts";

const [first, second] = nics;
const pciAddress = "0000:86:00.1";
const owned: InterfaceStatus = { ...(second ?? { pciAddress }), owned: true };
/** The PF while its network interface is in a pod or its driver is being re-initialized. */
const nameless: InterfaceStatus = { pciAddress, vendor: "8086", deviceID: "158b", totalvfs: 64, owned: true };
const elsewhere = policy("other", { nicSelector: { pfNames: ["ens803f0"] } });

function merge(interfaces: readonly InterfaceStatus[], ...policies: SriovNetworkNodePolicy[]) {
  return mergePolicies(node(), interfaces, createRules({ policies, pools: [] })).spec;
}

describe("spec.unselected", () => {
  it("lists a PF that Switchyard configured and that no policy selects, and no other PF", () => {
    expect(merge([first ?? owned, owned]).unselected).toEqual([pciAddress]);
    expect(merge([first ?? owned, owned], elsewhere).unselected).toEqual([pciAddress]);
  });

  it("lists a PF if its policy has 0 VFs", () => {
    expect(merge([owned], policy("none", { numVfs: 0 })).unselected).toEqual([pciAddress]);
  });

  it("is absent if policies select all PFs that Switchyard configured", () => {
    expect(merge([owned], policy("p"))).not.toHaveProperty("unselected");
  });

  it("is absent while the node has not reported its NICs", () => {
    expect(merge([])).toEqual({});
  });

  it.each([
    { does: "by name while the PF has none", nicSelector: { pfNames: ["ens803f1"] } },
    { does: "by vendor and name while the PF has no name", nicSelector: { vendor: "8086", pfNames: ["storage1"] } },
    { does: "by network while the PF's network is unknown", nicSelector: { netFilter: "openstack/NetworkID:3f5c" } },
    { does: "by a netFilter that cannot be parsed", nicSelector: { rootDevices: [pciAddress], netFilter: "no pair" } },
  ])("does not list a PF that a policy could select $does", ({ nicSelector }) => {
    expect(merge([nameless], policy("p", { nicSelector }))).not.toHaveProperty("unselected");
  });

  it("does not list a PF whose policy is invalid, so its VFs stay until the policy is corrected or deleted", () => {
    expect(merge([owned], policy("p", { nicSelector: { pfNames: ["ens803f1#x"] } }))).toEqual({});
  });

  it("lists a PF without a name that no policy can select", () => {
    const nicSelector = { vendor: "15b3", pfNames: ["ens803f1"] };
    expect(merge([nameless], policy("p", { nicSelector })).unselected).toEqual([pciAddress]);
  });

  it("never lists a PF that is in spec.interfaces or that Switchyard did not configure", () => {
    const anyNic = fc.record({ index: fc.nat(2), owned: fc.boolean(), hasName: fc.boolean() });
    const selector = fc.constantFrom({ vendor: "8086" }, { pfNames: ["ens803f1"] }, { pfNames: ["ens803f2#0-1"] });
    const holds = fc.property(fc.uniqueArray(anyNic, { selector: ({ index }) => index }), selector, (found, one) => {
      const present = found.flatMap(({ index, hasName, ...rest }) => {
        const { name, ...nic } = nics[index] ?? owned;
        return { ...nic, ...(hasName && name !== undefined && { name }), owned: rest.owned };
      });
      const { interfaces = [], unselected = [] } = merge(present, policy("p", { nicSelector: one }));
      const configured = interfaces.map(({ pciAddress: address }) => address);
      const ownedPfs = present.filter((nic) => nic.owned).map((nic) => nic.pciAddress);
      expect(unselected.filter((address) => configured.includes(address) || !ownedPfs.includes(address))).toEqual([]);
    });
    fc.assert(holds);
  });
});

describe("a PF that Switchyard configured under another name", () => {
  const renamed = { ...owned, name: "eth7", recordedNames: ["ens803f1", "storage1"] };

  it("is still selected by its former names, and has its current name in the spec", () => {
    expect(merge([renamed], policy("p")).interfaces).toMatchObject([{ pciAddress, name: "eth7", numVfs: 2 }]);
    expect(merge([renamed], policy("p", { nicSelector: { pfNames: ["storage1#1-1"] } })).interfaces).toMatchObject([
      { pciAddress, vfGroups: [{ vfRange: "1-1" }] },
    ]);
  });

  it("has its recorded name in the spec while it has no name", () => {
    const away = { ...nameless, recordedNames: ["ens803f1"] };
    expect(merge([away], policy("p")).interfaces).toMatchObject([{ pciAddress, name: "ens803f1" }]);
  });

  it("is not selected by a name that another PF has now", () => {
    const taker = { ...nics[0], pciAddress: "0000:86:00.0", name: "ens803f1" };
    const spec = merge([taker, renamed], policy("p"));
    expect(spec.interfaces).toMatchObject([{ pciAddress: "0000:86:00.0", name: "ens803f1" }]);
    expect(spec.unselected).toEqual([pciAddress]);
  });
});
