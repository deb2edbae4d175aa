// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { formatBootResult, parseBootResult } from "./boot-result.ts";

const statuses = fc.constantFrom("InProgress", "Succeeded", "Failed");

describe("a boot result", () => {
  it("is read as it was written, also by a YAML parser", () => {
    const results = fc.record({
      syncStatus: statuses,
      lastSyncError: fc.string(),
      bootID: fc.uuid(),
      configDigest: fc.string(),
    });
    fc.assert(
      fc.property(results, (result) => {
        const text = formatBootResult(result);
        expect(parseBootResult(text)).toEqual(result);
        expect(parse(text)).toEqual(result);
      }),
    );
  });

  it.each([
    { of: "the Go operator", text: 'syncStatus: Succeeded\nlastSyncError: ""\n' },
    { of: "an incomplete write", text: '# x\nsyncStatus: "Failed"\nlastSyncErr' },
    { of: "nothing", text: "" },
  ])("is not read from a file of $of", ({ text }) => {
    expect(parseBootResult(text)).toBeUndefined();
  });

  it("is never an exception", () => {
    fc.assert(fc.property(fc.string(), (text) => parseBootResult(text) === undefined));
  });
});
