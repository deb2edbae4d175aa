// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { withOwnership } from "./ownership.ts";

const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
const interfaces = [{ pciAddress: "0000:3b:00.0" }, { pciAddress: "0000:3b:00.1" }];

describe("withOwnership", () => {
  it("takes the PFs of the stored spec for configured where upstream's daemon wrote the status", () => {
    const status = { interfaces, syncStatus: "Succeeded" };
    expect(withOwnership({ spec, status })).toEqual({
      syncStatus: "Succeeded",
      interfaces: [{ pciAddress: "0000:3b:00.0", owned: true }, { pciAddress: "0000:3b:00.1" }],
    });
  });

  it("believes Switchyard's daemon, which reports what it has records of", () => {
    const status = { interfaces, observedGeneration: 3 };
    expect(withOwnership({ spec, status })).toBe(status);
  });

  it("knows nothing of a node without a status", () => {
    expect(withOwnership({ spec })).toEqual({});
  });
});
