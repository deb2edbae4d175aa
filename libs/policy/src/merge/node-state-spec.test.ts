// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { nodeStateSpec } from "./node-state-spec.ts";

describe("nodeStateSpec", () => {
  const wanted = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 8 }] };
  const kept = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
  const status = { interfaces: [{ pciAddress: "0000:3b:00.0" }] };

  it.each([
    {
      does: "has interfaces even if the merged spec is empty",
      merged: {},
      stored: undefined,
      spec: { interfaces: [] },
    },
    {
      does: "is the merged spec if the node's NICs are known",
      merged: wanted,
      stored: { spec: kept, status },
      spec: wanted,
    },
    { does: "keeps the stored spec while the node's NICs are unknown", merged: {}, stored: { spec: kept }, spec: kept },
    {
      does: "is empty if there is no stored spec and the status lists no NICs",
      merged: {},
      stored: { status: {} },
      spec: { interfaces: [] },
    },
  ])("$does", ({ merged, stored, spec }) => {
    expect(nodeStateSpec({ spec: merged }, stored)).toEqual(spec);
  });
});
