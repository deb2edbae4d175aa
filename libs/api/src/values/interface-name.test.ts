// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isInterfaceName } from "./addresses.ts";

describe("isInterfaceName", () => {
  it.each(["ens1f0", "a", "...", "eth0.100", "x".repeat(15), "v-1_2@3"])("accepts %s", (text) => {
    expect(isInterfaceName(text)).toBe(true);
  });

  it.each(["", ".", "..", "a/b", "a b", "a:b", "a\n", "a\0", "x".repeat(16), "é"])("refuses %j", (text) => {
    expect(isInterfaceName(text)).toBe(false);
  });
});
