// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatMac, parseBase64Mac, parseMac } from "./mac-address.ts";

const bytes = fc.constantFrom(6, 8, 20).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
const hexOf = (array: Uint8Array) => [...array].map((byte) => byte.toString(16).padStart(2, "0"));

describe("parseMac", () => {
  it.each(["02:16:3e:5e:6c:01", "02-16-3E-5E-6C-01", "0216.3e5e.6c01", "02163e5e6c01"])("reads %s", (text) => {
    const mac = parseMac(text);
    expect(mac && formatMac(mac)).toBe("02:16:3e:5e:6c:01");
  });

  it.each([
    "",
    "02",
    "02:16",
    "02:16:3e:5e:6c",
    "02:16:3e:5e:6c:01:",
    "02-16-3e:5e:6c:01",
    "2:16:3e:5e:6c:1",
    "02:16:3e:5e:6c:0g",
    "0216.3e5e",
    "02163e5e6c010",
    " 02:16:3e:5e:6c:01",
  ])("refuses %j", (text) => {
    expect(parseMac(text)).toBeUndefined();
  });

  it("reads every address of 6, 8 or 20 bytes with colons and with hyphens", () => {
    fc.assert(
      fc.property(bytes, (array) => {
        expect(parseMac(hexOf(array).join(":"))).toEqual(Buffer.from(array));
        expect(parseMac(hexOf(array).join("-").toUpperCase())).toEqual(Buffer.from(array));
      }),
    );
  });
});

describe("parseBase64Mac", () => {
  it("decodes the base64 of every address", () => {
    fc.assert(
      fc.property(bytes, (array) => {
        expect(parseBase64Mac(Buffer.from(array).toString("base64"))).toEqual(Buffer.from(array));
      }),
    );
  });

  it.each(["02:16:3e:5e:6c:01", "AhY+XmwB\n", "AhY", "AhY+Xmw", "????????"])("refuses %j", (text) => {
    expect(parseBase64Mac(text)).toBeUndefined();
  });
});
