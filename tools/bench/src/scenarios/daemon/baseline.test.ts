// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bestOf, parseTimes } from "./baseline.ts";

describe("parseTimes", () => {
  it("reads the start, the end of the writes and the end of udev's work", () => {
    expect(parseTimes("81.25 82.5 83.25 0 -> 4 on one PF\n90.00 92.75 92.75 6 -> 0 on one PF\n")).toEqual({
      "0 -> 4 on one PF": { seconds: 1.25, withUdevSeconds: 2 },
      "6 -> 0 on one PF": { seconds: 2.75, withUdevSeconds: 2.75 },
    });
  });

  it.each(["1 2 3", "1 2 zero", "2 1 3 zero"])("refuses %s", (line) => {
    expect(() => parseTimes(line)).toThrow(expect.objectContaining({ code: "platform" }));
  });
});

describe("bestOf", () => {
  it("takes the lower times of each change", () => {
    const first = { a: { seconds: 2, withUdevSeconds: 3 }, b: { seconds: 3, withUdevSeconds: 3 } };
    const second = { a: { seconds: 1, withUdevSeconds: 4 }, b: { seconds: 4, withUdevSeconds: 5 } };
    expect(bestOf(first, second)).toEqual({ a: { seconds: 1, withUdevSeconds: 3 }, b: first.b });
  });
});
