// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isUnicast, parseMacAddress } from "@switchyard/api";
import fc from "fast-check";
import { chooseMacs } from "./choose-macs.ts";

const none = { recorded: undefined, present: new Map<number, string>() };

/** Returns these bytes one after another. */
function drawing(...draws: readonly (readonly number[])[]) {
  const left = [...draws];
  return () => Buffer.from(left.shift() ?? []);
}

describe("chooseMacs", () => {
  it("keeps what is recorded, then what an interface can have, and draws the others", () => {
    const macs = chooseMacs([0, 1, 2, 3], {
      recorded: { 0: "02:00:00:00:00:0a" },
      present: new Map([
        [0, "02:00:00:00:00:0b"],
        [1, "02:00:00:00:00:0c"],
        [2, "00:00:00:00:00:00"],
      ]),
      taken: new Set(),
      random: drawing([0xff, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 6]),
    });
    expect(macs).toEqual({
      0: "02:00:00:00:00:0a",
      1: "02:00:00:00:00:0c",
      2: "fe:01:02:03:04:05",
      3: "02:01:02:03:04:06",
    });
  });

  it("draws no address of the node, and none twice", () => {
    const same = [2, 0, 0, 0, 0, 1];
    const random = drawing(same, [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 3]);
    const macs = chooseMacs([0, 1], { ...none, taken: new Set(["02:00:00:00:00:01"]), random });
    expect(macs).toEqual({ 0: "02:00:00:00:00:02", 1: "02:00:00:00:00:03" });
  });

  it("gives only locally administered unicast addresses, whatever the record and the bytes are", () => {
    const bytes = fc.uint8Array({ minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(bytes, fc.oneof(fc.string(), fc.constant("01:00:00:00:00:00")), (drawn, recorded) => {
        const options = { ...none, recorded: { 0: recorded }, taken: new Set<string>() };
        const mac = parseMacAddress(chooseMacs([0], { ...options, random: () => Buffer.from(drawn) })[0] ?? "");
        expect(mac.ok && isUnicast(mac.value)).toBe(true);
        if (mac.ok) expect(Number.parseInt(mac.value.slice(0, 2), 16) & 2).toBe(2);
      }),
    );
  });
});
