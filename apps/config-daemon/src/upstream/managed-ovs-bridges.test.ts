// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseManagedBridges } from "./managed-ovs-bridges.ts";

describe("parseManagedBridges", () => {
  it("reads the entries that the Go operator writes; the PF follows from the name of the bridge", () => {
    const entry = {
      name: "br-0000_3b_00.0",
      bridge: { datapathType: "netdev", externalIDs: { a: "1", "switchyard.io/owner": "me" }, otherConfig: { b: "2" } },
      uplinks: [
        { pciAddress: "x", name: "ens1f0", interface: { type: "dpdk", options: { c: "3" }, mtuRequest: 9000 } },
      ],
    };
    expect(parseManagedBridges(JSON.stringify({ "br-0000_3b_00.0": entry }))?.bridges).toEqual([
      {
        name: "br-0000_3b_00.0",
        settings: { externalIDs: { a: "1" }, otherConfig: { b: "2" } },
        uplink: {
          name: "ens1f0",
          pciAddress: "0000:3b:00.0",
          settings: { options: { c: "3" }, externalIDs: {}, otherConfig: {} },
        },
      },
    ]);
  });

  it("accepts any text without throwing", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseManagedBridges(text);
      }),
    );
  });

  it("accepts any entry, and keeps all entries that it does not recognise", () => {
    const entries = fc.dictionary(fc.constantFrom("br-0000_3b_00.0", "br-ex", "__proto__", "x"), fc.jsonValue());
    fc.assert(
      fc.property(entries, (given) => {
        const { bridges, others } = parseManagedBridges(JSON.stringify(given)) ?? { bridges: [], others: {} };
        expect(bridges.length + Object.keys(others).length).toBe(Object.keys(given).length);
        for (const { settings } of bridges)
          for (const value of Object.values(settings.otherConfig ?? {})) expect(typeof value).toBe("string");
      }),
    );
  });
});
