// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { blueFieldPf, nics } from "../testing/objects.ts";
import { managementPf, smartNicModelOf, smartNicsOf } from "./smart-nics.ts";

describe("smartNicsOf", () => {
  it("groups the ports of a card, ordered by address", () => {
    const [first, second] = [blueFieldPf("0000:3b:00.0"), blueFieldPf("0000:3b:00.1")];
    expect(smartNicsOf([second, ...nics, first])).toEqual([
      { slot: "0000:3b:00", model: "bluefield-2", pfs: [first, second] },
    ]);
  });

  it("tells cards apart and orders them by address, with domains of any length", () => {
    const cards = smartNicsOf([
      blueFieldPf("10000:01:00.0", { deviceID: "a2dc" }),
      blueFieldPf("0000:af:00.0"),
      blueFieldPf("0000:3b:00.0"),
    ]);
    expect(cards.map(({ slot, model }) => [slot, model])).toEqual([
      ["0000:3b:00", "bluefield-2"],
      ["0000:af:00", "bluefield-2"],
      ["10000:01:00", "bluefield-3"],
    ]);
  });
});

describe("smartNicModelOf", () => {
  it.each([
    { vendor: "15b3", deviceID: "a2d6", model: "bluefield-2" },
    { vendor: "15B3", deviceID: "A2DC", model: "bluefield-3" },
    { vendor: "15b3", deviceID: "101e", model: undefined },
    { vendor: "8086", deviceID: "a2d6", model: undefined },
    { vendor: "15b3", deviceID: "toString", model: undefined },
  ])("is $model for $vendor:$deviceID", ({ vendor, deviceID, model }) => {
    expect(smartNicModelOf(blueFieldPf("0000:3b:00.0", { vendor, deviceID }))).toBe(model);
  });
});

describe("managementPf", () => {
  it("is the PF of the SmartNIC with the lowest address", () => {
    const pfs = [blueFieldPf("0000:3b:00.1"), blueFieldPf("0000:3b:00.0"), ...nics];
    expect(managementPf(pfs)?.pciAddress).toBe("0000:3b:00.0");
  });

  it("is undefined without a SmartNIC", () => {
    expect(managementPf(nics)).toBeUndefined();
  });
});
