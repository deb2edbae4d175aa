// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { nodeStateSpec } from "./node-state-spec.ts";

describe("nodeStateSpec", () => {
  const wanted = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 8 }] };
  const kept = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
  const status = { interfaces: [{ pciAddress: "0000:3b:00.0" }] };

  it.each([
    { does: "has interfaces even where nothing is wanted", merged: {}, stored: undefined, spec: { interfaces: [] } },
    {
      does: "is what policies want of a node that is known",
      merged: wanted,
      stored: { spec: kept, status },
      spec: wanted,
    },
    { does: "stays while the node's NICs are not known", merged: {}, stored: { spec: kept }, spec: kept },
    { does: "stays where a status lists no NICs", merged: {}, stored: { status: {} }, spec: { interfaces: [] } },
  ])("$does", ({ merged, stored, spec }) => {
    expect(nodeStateSpec({ spec: merged }, stored)).toEqual(spec);
  });
});
