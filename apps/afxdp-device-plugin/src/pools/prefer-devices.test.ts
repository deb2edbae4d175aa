// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { preferDevices } from "./pool-plugin.ts";

describe("preferDevices", () => {
  const devices = Object.entries({ a: 0, b: 1, c: 1, d: 2, e: 2, f: 2 }).map(([id, numaNode]) => {
    return { id, numaNode, isHealthy: true };
  });
  const all = ["f", "e", "d", "c", "b", "a"];

  it.each([
    { does: "takes the smallest node that is large enough", required: [], count: 2, expected: ["b", "c"] },
    { does: "takes the node of required devices", required: ["d"], count: 2, expected: ["d", "e"] },
    {
      does: "takes the largest node first if none is large enough",
      required: [],
      count: 4,
      expected: ["d", "e", "f", "b"],
    },
    { does: "takes what there is", required: [], count: 9, expected: ["d", "e", "f", "b", "c", "a"] },
  ])("$does", ({ required, count, expected }) => {
    expect(preferDevices({ available: all, required, count }, devices)).toEqual(expected);
  });
});
