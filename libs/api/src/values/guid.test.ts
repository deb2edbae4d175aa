// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseGuid } from "./addresses.ts";

describe("parseGuid", () => {
  it("parses eight bytes and converts digits to lower case", () => {
    expect(parseGuid("02:00:00:00:00:AB:cd:01")).toEqual({ ok: true, value: "02:00:00:00:00:ab:cd:01" });
  });

  it.each([
    "",
    "02:00:00:00:00:00:00",
    "02:00:00:00:00:00:00:00:01",
    "0200:0000:0000:0001",
    "2:0:0:0:0:0:0:1",
    "00:00:00:00:00:00:00:00",
    "ff:ff:ff:ff:ff:FF:ff:ff",
    "02:00:00:00:00:00:00:01\n",
  ])("rejects %j", (text) => {
    expect(parseGuid(text)).toEqual({ ok: false, error: { code: "malformed", text } });
  });
});
