// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isNewer } from "./product-version.ts";

describe("isNewer", () => {
  // The order of Semantic Versioning 2.0, section 11.
  const ascending = [
    "0.9.9",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "2.0.0",
  ];

  it("orders versions as Semantic Versioning does", () => {
    for (const [i, one] of ascending.entries()) {
      for (const [j, other] of ascending.entries())
        expect([one, other, isNewer(one, other)]).toEqual([one, other, i > j]);
    }
  });

  it.each(["", "main", "1.0", "1.0.0.0", "99999999999.0.0"])('never takes "%s" for newer', (text) => {
    expect([isNewer(text, "0.1.0"), isNewer("0.1.0", text)]).toEqual([false, false]);
  });
});
