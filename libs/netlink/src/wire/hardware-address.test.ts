// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatHardwareAddress, parseHardwareAddress } from "./attributes.ts";

describe("hardware addresses", () => {
  it("are the same after formatting and parsing, with 6 or 20 bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 32 }), (bytes) => {
        expect(parseHardwareAddress(formatHardwareAddress(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it.each(["02:00:00:00:00:0g", "2:0:0:0:0:1", "02-00-00-00-00-01", "0200:00:00:00:01"])(
    "are not parsed from %s",
    (text) => {
      expect(() => parseHardwareAddress(text)).toThrow(RangeError);
    },
  );
});
