// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { nics } from "../testing/objects.ts";
import { couldMatchNic } from "./nic-selector.ts";
import { describeBroadSelector, describeNearest, idleEntries, nearestNic } from "./selection-report.ts";

describe("describeBroadSelector", () => {
  it.each([
    { selector: { vendor: "8086" }, ports: 2, text: "all 2 ports of vendor 8086 are selected" },
    { selector: { deviceID: "158b", driver: "i40e" }, ports: 3, text: "all 3 ports of device ID 158b and driver i40e" },
  ])("counts the ports of $selector", ({ selector, ports, text }) => {
    expect(describeBroadSelector(selector, ports)).toContain(text);
  });

  it.each([
    { why: "one port is selected", selector: { vendor: "8086" }, ports: 1 },
    { why: "ports are named", selector: { vendor: "8086", pfNames: ["ens803f0"] }, ports: 9 },
    { why: "a network is named", selector: { netFilter: "aws/NetworkID:1" }, ports: 9 },
    { why: "MAC addresses are named", selector: { driver: "ice", macAddresses: ["02:00:00:00:00:01"] }, ports: 9 },
    { why: "it matches nothing", selector: { pfNames: [] }, ports: 9 },
  ])("says nothing if $why", ({ selector, ports }) => {
    expect(describeBroadSelector(selector, ports)).toBeUndefined();
  });
});

describe("nearestNic", () => {
  it.each([
    {
      selector: { rootDevices: ["0000:af:00.0"], pfNames: ["ens803f1"] },
      text: "ens803f1 (0000:86:00.1): the address is not in rootDevices 0000:af:00.0",
    },
    { selector: { vendor: "15b3", pfNames: ["storage0#0-3"] }, text: "vendor is 8086, not 15b3" },
    { selector: { pfNames: ["ens803f2x"] }, text: "the name is ens803f2, not ens803f2x" },
  ])("names the field of $selector that does not match", ({ selector, text }) => {
    const nearest = nearestNic(selector, nics);
    expect(nearest && describeNearest(nearest)).toContain(text);
  });

  it("finds it among the NICs of a large fleet, and shows at most 64 characters that a node has written", () => {
    const fleet = Array.from({ length: 300_000 }, () => ({ driver: "ice", vendor: "x".repeat(100_000) }));
    const nearest = nearestNic({ driver: "ice", vendor: "8086" }, fleet);
    expect(nearest?.differences).toEqual([`vendor is ${"x".repeat(64)}, not 8086`]);
  });

  it("names none that has nothing in common with the selector", () => {
    expect(nearestNic({ pfNames: ["uplink"] }, nics)).toBeUndefined();
    expect(nearestNic({ pfNames: ["ens803f0"] }, nics)).toBeUndefined(); // it matches
    expect(nearestNic({ pfNames: ["ens803f0"] }, [])).toBeUndefined();
  });
});

describe("idleEntries", () => {
  it("finds entries that match nothing together with the other fields", () => {
    const fields = (selector: Parameters<typeof couldMatchNic>[0]) =>
      idleEntries(selector, nics, couldMatchNic).map(({ field }) => field);
    expect(fields({ pfNames: ["ens803f0", "uplink", "storage0"] })).toEqual(["spec.nicSelector.pfNames[1]"]);
    expect(fields({ deviceID: "158b", pfNames: ["ens803f0", "ens803f2"] })).toEqual(["spec.nicSelector.pfNames[1]"]);
    expect(fields({ pfNames: ["uplink", "uplink1"] })).toEqual([]); // reported as a whole
    expect(fields({ pfNames: ["ens803f0#0-1", "ens803f0#2-3"] })).toEqual([]);
  });
});
