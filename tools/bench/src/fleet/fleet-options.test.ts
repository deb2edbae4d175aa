// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseFleetOptions } from "./fleet-options.ts";

describe("parseFleetOptions", () => {
  it("defaults to 1,000 nodes and 10 policies", () => {
    expect(parseFleetOptions([])).toMatchObject({ nodes: 1000, policies: 10, profile: "pf6", check: false });
  });

  it("limits the drains to the number of nodes", () => {
    expect(parseFleetOptions([])).toMatchObject({ drains: 100 });
    expect(parseFleetOptions(["--nodes", "20"])).toMatchObject({ drains: 20 });
  });

  it.each([
    { args: ["--nodes", "0"], problem: '--nodes must be a whole number from 1 to 65536, not "0"' },
    { args: ["--nodes", "1e3"], problem: '--nodes must be a whole number from 1 to 65536, not "1e3"' },
    { args: ["--profile", "x"], problem: '--profile must be pf6 or vf256, not "x"' },
    {
      args: ["--policies", "34", "--profile", "vf256"],
      problem: '--policies must be a whole number from 1 to 33, not "34"',
    },
  ])("refuses $args", ({ args, problem }) => {
    expect(() => parseFleetOptions(args)).toThrow(expect.objectContaining({ code: "usage", message: problem }));
  });

  it("refuses unknown flags", () => {
    expect(() => parseFleetOptions(["--node", "5"])).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
