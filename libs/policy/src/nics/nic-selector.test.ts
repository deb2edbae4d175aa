// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { NicSelector } from "@switchyard/api";
import { isEmptyNicSelector, matchesNic } from "./nic-selector.ts";
import { nics } from "../testing/objects.ts";

describe("matchesNic", () => {
  const matching = (selector: NicSelector) => nics.filter((nic) => matchesNic(selector, nic)).map(({ name }) => name);

  it.each<{ does: string; selector: NicSelector; names: string[] }>([
    { does: "by vendor", selector: { vendor: "8086" }, names: ["ens803f0", "ens803f1", "ens803f2"] },
    { does: "by the PF's device ID", selector: { deviceID: "1572" }, names: ["ens803f2"] },
    { does: "by PCI address", selector: { rootDevices: ["0000:86:00.1"] }, names: ["ens803f1"] },
    { does: "by name", selector: { pfNames: ["ens803f1", "ens803f0"] }, names: ["ens803f0", "ens803f1"] },
    { does: "by name, ignoring text after #", selector: { pfNames: ["ens803f0#x"] }, names: ["ens803f0"] },
    { does: "by alternative name", selector: { pfNames: ["storage0#0-1"] }, names: ["ens803f2"] },
    {
      does: "by all fields at once",
      selector: { deviceID: "158b", pfNames: ["ens803f2", "ens803f1"] },
      names: ["ens803f1"],
    },
    { does: "nothing by an empty selector", selector: {}, names: [] },
    { does: "nothing by empty fields", selector: { vendor: "", pfNames: [], rootDevices: [] }, names: [] },
    { does: "nothing by a range of rootDevices", selector: { rootDevices: ["0000:86:00.1#0-1"] }, names: [] },
    { does: "nothing by the start of a name", selector: { pfNames: ["ens803"] }, names: [] },
  ])("selects $does", ({ selector, names }) => {
    expect(matching(selector)).toEqual(names);
  });

  it("selects by network, ignoring blanks (sriov-operator.md M-36)", () => {
    const virtual = { pciAddress: "0000:00:05.0", name: "eth0", netFilter: "openstack/NetworkID:3f5c" };
    expect(matchesNic({ netFilter: "openstack/NetworkID: 3f5c" }, virtual)).toBe(true);
  });

  it("does not match a PF without a name by an entry without a name", () => {
    expect(matchesNic({ pfNames: ["#5", ""] }, { pciAddress: "0000:00:05.0", name: "" })).toBe(false);
  });
});

describe("isEmptyNicSelector", () => {
  it("treats empty fields as absent", () => {
    expect(isEmptyNicSelector({ vendor: "", deviceID: "", netFilter: "", pfNames: [], rootDevices: [] })).toBe(true);
  });
});
