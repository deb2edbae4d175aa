// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isUnicast, parseMacAddress } from "./addresses.ts";

describe("parseMacAddress", () => {
  it("parses six bytes and converts digits to lower case", () => {
    expect(parseMacAddress("02:00:00:AB:cd:01")).toEqual({ ok: true, value: "02:00:00:ab:cd:01" });
  });

  it.each(["", "02:00:00:00:00", "02-00-00-00-00-01", "2:0:0:0:0:1", "02:00:00:00:00:0g", "02:00:00:00:00:01:02"])(
    "rejects %j",
    (text) => {
      expect(parseMacAddress(text)).toEqual({ ok: false, error: { code: "malformed", text } });
    },
  );
});

describe("isUnicast", () => {
  it.each([
    ["02:00:00:00:00:01", true],
    ["00:00:00:00:00:00", false],
    ["01:00:5e:00:00:01", false],
    ["ff:ff:ff:ff:ff:ff", false],
  ])("%s: %j", (text, unicast) => {
    const mac = parseMacAddress(text);
    expect(mac.ok && isUnicast(mac.value)).toBe(unicast);
  });
});
