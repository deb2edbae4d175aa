// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseFleetOptions } from "./fleet-options.ts";

describe("parseFleetOptions", () => {
  it("has the fleet of performance.md for its default", () => {
    expect(parseFleetOptions([])).toMatchObject({ nodes: 1000, policies: 10, profile: "pf6", check: false });
  });

  it("drains no more nodes than there are", () => {
    expect(parseFleetOptions([])).toMatchObject({ drains: 100 });
    expect(parseFleetOptions(["--nodes", "20"])).toMatchObject({ drains: 20 });
  });

  it.each([
    { args: ["--nodes", "0"], problem: "--nodes 0: not a whole number from 1 to 65536" },
    { args: ["--nodes", "1e3"], problem: "--nodes 1e3: not a whole number from 1 to 65536" },
    { args: ["--profile", "x"], problem: "--profile x: not one of pf6, vf256" },
    { args: ["--policies", "34", "--profile", "vf256"], problem: "--policies 34: not a whole number from 1 to 33" },
  ])("refuses $args", ({ args, problem }) => {
    expect(() => parseFleetOptions(args)).toThrow(expect.objectContaining({ code: "usage", message: problem }));
  });

  it("refuses what it does not know", () => {
    expect(() => parseFleetOptions(["--node", "5"])).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
