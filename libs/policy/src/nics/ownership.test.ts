// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { withOwnership } from "./status-pfs.ts";

const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
const interfaces = [{ pciAddress: "0000:3b:00.0" }, { pciAddress: "0000:3b:00.1" }];

describe("withOwnership", () => {
  it("marks the PFs of the stored spec as owned if upstream's daemon wrote the status", () => {
    const status = { interfaces, syncStatus: "Succeeded" };
    expect(withOwnership({ spec, status })).toEqual({
      syncStatus: "Succeeded",
      interfaces: [{ pciAddress: "0000:3b:00.0", owned: true }, { pciAddress: "0000:3b:00.1" }],
    });
  });

  it("returns a status of Switchyard's daemon unchanged", () => {
    const status = { interfaces, observedGeneration: 3 };
    expect(withOwnership({ spec, status })).toBe(status);
  });

  it("returns an empty status for a node without a status", () => {
    expect(withOwnership({ spec })).toEqual({});
  });
});
