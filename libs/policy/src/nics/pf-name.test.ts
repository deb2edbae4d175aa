// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parsePfName, pfNameOf } from "./pf-name.ts";

describe("parsePfName", () => {
  it.each([
    { does: "takes a bare name for all VFs", text: "ens1f0", value: { name: "ens1f0" } },
    { does: "reads the range", text: "ens1f0#2-5", value: { name: "ens1f0", range: { first: 2, last: 5 } } },
  ])("$does: $text", ({ text, value }) => {
    expect(parsePfName(text)).toEqual({ ok: true, value });
  });

  it.each([
    { does: "refuses a # with nothing behind (M-41)", text: "ens1#", code: "malformed", name: "ens1" },
    { does: "refuses a single VF (M-41)", text: "ens1#5", code: "malformed", name: "ens1" },
    { does: "refuses three ends (M-41)", text: "ens1#0-1-2", code: "malformed", name: "ens1" },
    { does: "refuses letters (B.10)", text: "ens803f0#a-c", code: "malformed", name: "ens803f0" },
    { does: "refuses two ranges", text: "ens1#0-1#2-3", code: "malformed", name: "ens1" },
    { does: "refuses a reversed range", text: "ens1#5-2", code: "reversed", name: "ens1" },
    { does: "refuses a range of no PF (M-41)", text: "#5", code: "no-name", name: "" },
    { does: "refuses an empty entry", text: "", code: "no-name", name: "" },
  ])("$does: $text", ({ text, code, name }) => {
    expect(parsePfName(text)).toEqual({ ok: false, error: { code, name, text } });
  });
});

describe("pfNameOf", () => {
  it("ends at the first #, whatever follows", () => {
    expect(["ens1", "ens1#0-1", "ens1#x#y", "#5"].map(pfNameOf)).toEqual(["ens1", "ens1", "ens1", ""]);
  });
});
