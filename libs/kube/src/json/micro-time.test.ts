// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { microTime } from "./texts.ts";

describe("microTime", () => {
  it("renders microseconds in six digits", () => {
    const date = new Date("2026-11-20T12:34:56.789Z");
    expect([7, 1007, 999].map((micros) => microTime(date, micros))).toEqual([
      "2026-11-20T12:34:56.789007Z",
      "2026-11-20T12:34:56.789007Z",
      "2026-11-20T12:34:56.789999Z",
    ]);
  });
});
