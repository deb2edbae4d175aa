// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { allVfs, formatVfRange, includesVf, overlaps, parseVfRange, type VfRange } from "./vf-range.ts";

describe("parseVfRange", () => {
  it.each([
    { does: "compares ends as numbers", text: "2-10", result: { ok: true, value: { first: 2, last: 10 } } },
    { does: "accepts a range of one VF", text: "3-3", result: { ok: true, value: { first: 3, last: 3 } } },
    { does: "rejects a reversed range", text: "5-2", result: { ok: false, error: { code: "reversed", text: "5-2" } } },
    {
      does: "rejects letters (sriov-operator.md B.10)",
      text: "a-c",
      result: { ok: false, error: { code: "malformed", text: "a-c" } },
    },
    {
      does: "rejects a single index (sriov-operator.md M-41)",
      text: "5",
      result: { ok: false, error: { code: "malformed", text: "5" } },
    },
    {
      does: "rejects three indexes (sriov-operator.md M-41)",
      text: "0-1-2",
      result: { ok: false, error: { code: "malformed", text: "0-1-2" } },
    },
    {
      does: "rejects an empty range (sriov-operator.md M-41)",
      text: "",
      result: { ok: false, error: { code: "malformed", text: "" } },
    },
    { does: "rejects signs", text: "-1-2", result: { ok: false, error: { code: "malformed", text: "-1-2" } } },
    { does: "rejects blanks", text: "0 - 1", result: { ok: false, error: { code: "malformed", text: "0 - 1" } } },
    { does: "rejects a line break", text: "0-1\n", result: { ok: false, error: { code: "malformed", text: "0-1\n" } } },
  ])("$does: $text", ({ text, result }) => {
    expect(parseVfRange(text)).toEqual(result);
  });

  it("parses the output of formatVfRange", () => {
    const isRead = fc.property(fc.nat(65535), fc.nat(65535), (a, b) => {
      const text = `${Math.min(a, b)}-${Math.max(a, b)}`;
      const range = parseVfRange(text);
      expect(range.ok && formatVfRange(range.value)).toBe(text);
    });
    fc.assert(isRead);
  });
});

describe("allVfs", () => {
  it("returns the range of all VFs of a PF", () => {
    expect(allVfs(8)).toEqual({ first: 0, last: 7 });
  });

  it("is undefined for a PF without VFs", () => {
    expect(allVfs(0)).toBeUndefined();
  });
});

describe("includesVf", () => {
  it("includes both ends and nothing beyond them", () => {
    const range = parseVfRange("2-4");
    expect([1, 2, 3, 4, 5].filter((vfId) => range.ok && includesVf(range.value, vfId))).toEqual([2, 3, 4]);
  });
});

describe("overlaps", () => {
  const ranges = fc.tuple(fc.nat(63), fc.nat(63)).map(([first, more]) => parseVfRange(`${first}-${first + more}`));
  const vfsOf = ({ first, last }: VfRange) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

  it("returns the same as a comparison VF by VF, in either order", () => {
    const agrees = fc.property(ranges, ranges, (a, b) => {
      fc.pre(a.ok && b.ok);
      const shared = vfsOf(a.value).some((vf) => vfsOf(b.value).includes(vf));
      expect([overlaps(a.value, b.value), overlaps(b.value, a.value)]).toEqual([shared, shared]);
    });
    fc.assert(agrees);
  });
});
