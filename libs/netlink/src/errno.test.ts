// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { errnoName } from "./netlink-error.ts";

describe("errnoName", () => {
  it.each([
    { errno: 16, name: "EBUSY" },
    { errno: 11, name: "EAGAIN" },
    { errno: 95, name: "EOPNOTSUPP" },
    { errno: 121, name: "EREMOTEIO" },
    { errno: 524, name: "ENOTSUPP" },
    { errno: 4000, name: "E4000" },
  ])("returns $name for $errno", ({ errno, name }) => {
    expect(errnoName(errno)).toBe(name);
  });
});
