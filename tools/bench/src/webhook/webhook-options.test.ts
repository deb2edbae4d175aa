// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseWebhookOptions } from "./webhook-options.ts";

describe("parseWebhookOptions", () => {
  it("defaults to 1,000 nodes and all profiles", () => {
    expect(parseWebhookOptions([])).toEqual({
      nodes: 1000,
      pods: 10_000,
      profiles: ["pf6", "vf256", "vf256-in-pods"],
      reviews: 300,
      rounds: 3,
      json: undefined,
      cpuProf: undefined,
      check: false,
    });
    expect(parseWebhookOptions(["--profile", "vf256", "--pods", "0", "--check"])).toMatchObject({
      profiles: ["vf256"],
      pods: 0,
      check: true,
    });
    expect(parseWebhookOptions(["-h"])).toBe("help");
  });

  it.each([["--nodes", "0"], ["--profile", "pf7"], ["--reviews", "x"], ["--quick"]])("refuses %s %s", (...args) => {
    expect(() => parseWebhookOptions(args)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
