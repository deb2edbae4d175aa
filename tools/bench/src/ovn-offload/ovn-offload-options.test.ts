// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseOvnOffloadOptions } from "./ovn-offload-options.ts";

describe("parseOvnOffloadOptions", () => {
  it("defaults to 1,000 hosts in 20 pools", () => {
    expect(parseOvnOffloadOptions([])).toMatchObject({ nodes: 1000, pools: 20, rounds: 3, check: false });
  });

  it("has no more pools than hosts by default", () => {
    expect(parseOvnOffloadOptions(["--nodes", "5"])).toMatchObject({ nodes: 5, pools: 5 });
  });

  it.each([
    { args: ["--nodes", "0"], problem: '--nodes must be a whole number from 1 to 65536, not "0"' },
    { args: ["--pools", "65"], problem: '--pools must be a whole number from 1 to 64, not "65"' },
    { args: ["--nodes", "3", "--pools", "4"], problem: "--pools must not exceed --nodes (3), but is 4" },
  ])("refuses $args", ({ args, problem }) => {
    expect(() => parseOvnOffloadOptions(args)).toThrow(expect.objectContaining({ code: "usage", message: problem }));
  });
});
