// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { compareVersions, parseVersion } from "./product-version.ts";

describe("parseVersion", () => {
  it.each(["v1.2.3", "1.2", "1.2.3.4", "01.2.3", "1.2.3+build", "1.2.3-", "", "1.2.3 ", "latest"])(
    "refuses %j",
    (text) => {
      expect(() => parseVersion(text)).toThrow("must be a semantic version");
    },
  );

  it.each(["0.1.0", "1.2.3-rc.1", "10.20.30-alpha-1.x.7"])("accepts %s", (text) => {
    expect(parseVersion(text)).toBe(text);
  });
});

describe("compareVersions", () => {
  const inOrder = [
    ["0.9.9", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"],
    ["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0-0", "2.0.0"],
  ].flat();

  it("orders as semver.org does, from any shuffle", () => {
    const sorts = fc.property(fc.shuffledSubarray(inOrder, { minLength: inOrder.length }), (shuffled) => {
      expect(shuffled.toSorted(compareVersions)).toEqual(inOrder);
    });
    fc.assert(sorts);
  });
});
