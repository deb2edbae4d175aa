// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseNetFilter, sameNetFilter } from "./nic-selector.ts";

describe("parseNetFilter", () => {
  it.each([
    { does: "parses key and value", text: "openstack/NetworkID:3f5c", key: "openstack/NetworkID", value: "3f5c" },
    { does: "ignores blanks around the parts", text: "  aws/NetworkID : 0a1b \t", key: "aws/NetworkID", value: "0a1b" },
    { does: "ends the key at the last colon of the first word", text: "a:b:c", key: "a:b", value: "c" },
    { does: "ends the key at the first colon that a blank follows", text: "a: b:c", key: "a", value: "b:c" },
    { does: "ignores text after the value", text: "a:b c:d", key: "a", value: "b" },
    { does: "uses the first line that has a pair", text: "none\n a : b\nc:d", key: "a", value: "b" },
  ])("$does: $text", ({ text, key, value }) => {
    expect(parseNetFilter(text)).toEqual({ key, value });
  });

  it.each(["", "word", ":", "key:", ":value", "two words: more"])("finds no pair in %p", (text) => {
    expect(parseNetFilter(text)).toBeUndefined();
  });
});

describe("sameNetFilter", () => {
  it("compares key and value, not the texts (sriov-operator.md M-36)", () => {
    expect(sameNetFilter("openstack/NetworkID : 3f5c", "openstack/NetworkID:3f5c")).toBe(true);
  });

  it.each([
    { does: "distinguishes values", a: "k:1", b: "k:2" },
    { does: "distinguishes keys", a: "k:1", b: "l:1" },
    { does: "returns false for texts without a pair", a: "word", b: "word" },
  ])("$does", ({ a, b }) => {
    expect(sameNetFilter(a, b)).toBe(false);
  });
});
