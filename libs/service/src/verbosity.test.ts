// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { levelOfVerbosity } from "./logger.ts";

describe("levelOfVerbosity", () => {
  it.each([
    { verbosity: 0, level: "warn" },
    { verbosity: 1, level: "info" },
    { verbosity: 2, level: "debug" },
    { verbosity: undefined, level: "error" },
    { verbosity: 7, level: "error" },
  ])("returns $level for verbosity $verbosity and flag value error", ({ verbosity, level }) => {
    expect(levelOfVerbosity(verbosity, "error")).toBe(level);
  });
});
