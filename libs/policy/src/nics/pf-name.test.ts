// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parsePfName, pfNameOf } from "./pf-name.ts";

describe("parsePfName", () => {
  it.each([
    { does: "selects all VFs by a name without a range", text: "ens1f0", value: { name: "ens1f0" } },
    { does: "parses the range", text: "ens1f0#2-5", value: { name: "ens1f0", range: { first: 2, last: 5 } } },
  ])("$does: $text", ({ text, value }) => {
    expect(parsePfName(text)).toEqual({ ok: true, value });
  });

  it.each([
    { does: "rejects a # at the end (sriov-operator.md M-41)", text: "ens1#", code: "malformed", name: "ens1" },
    { does: "rejects a single index (sriov-operator.md M-41)", text: "ens1#5", code: "malformed", name: "ens1" },
    { does: "rejects three indexes (sriov-operator.md M-41)", text: "ens1#0-1-2", code: "malformed", name: "ens1" },
    { does: "rejects letters (sriov-operator.md B.10)", text: "ens803f0#a-c", code: "malformed", name: "ens803f0" },
    { does: "rejects two ranges", text: "ens1#0-1#2-3", code: "malformed", name: "ens1" },
    { does: "rejects a reversed range", text: "ens1#5-2", code: "reversed", name: "ens1" },
    { does: "rejects a range without a name (sriov-operator.md M-41)", text: "#5", code: "no-name", name: "" },
    { does: "rejects an empty entry", text: "", code: "no-name", name: "" },
  ])("$does: $text", ({ text, code, name }) => {
    expect(parsePfName(text)).toEqual({ ok: false, error: { code, name, text } });
  });
});

describe("pfNameOf", () => {
  it("returns the part before the first #", () => {
    expect(["ens1", "ens1#0-1", "ens1#x#y", "#5"].map(pfNameOf)).toEqual(["ens1", "ens1", "ens1", ""]);
  });
});
