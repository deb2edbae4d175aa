// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bestOf, parseTimes } from "./kernel-baseline.ts";

describe("parseTimes", () => {
  it("reads begin and end of each change", () => {
    const times = parseTimes("zeroToFour 81.25 82.5\nsixToZero 90.00 92.75\n");
    expect(times).toEqual({ "0 -> 4 on one PF": 1.25, "6 -> 0 on one PF": 2.75 });
  });

  it.each(["other 1 2", "zeroToFour 1", "zeroToFour 2 1"])("refuses %s", (line) => {
    expect(() => parseTimes(line)).toThrow(expect.objectContaining({ code: "platform" }));
  });
});

describe("bestOf", () => {
  it("takes the lower time of each change", () => {
    expect(bestOf({ a: 2, b: 3 }, { a: 1, b: 4 })).toEqual({ a: 1, b: 3 });
  });
});
