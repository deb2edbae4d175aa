// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeOptions, parseOptions } from "./options.ts";
import { scenarios } from "../scenarios.ts";

const specs = {
  nodes: { help: "number of nodes", count: 1000, quick: 20, range: [1, 65_536] },
  atOnce: { help: "starts at once", count: 50, range: [1, 1000] },
  profile: { help: "6 PFs, or 2", choice: ["pf6", "vf256"] },
  parts: { help: "what is measured", choices: ["one", "two"] },
  forms: { help: "other ways", flag: true },
  cpuProf: { help: "write a profile", path: "DIR" },
} as const;

const standard = { nodes: 1000, atOnce: 50, profile: "pf6", parts: ["one", "two"], forms: false, cpuProf: undefined };

describe("parseOptions", () => {
  it("has defaults, and smaller ones for a quick run", () => {
    expect(parseOptions([], specs)).toEqual({ options: standard, json: undefined, check: false });
    expect(parseOptions(["--quick"], specs)).toMatchObject({ options: { nodes: 20, atOnce: 50, parts: ["one"] } });
    expect(parseOptions(["--quick", "--nodes", "7"], specs)).toMatchObject({ options: { nodes: 7 } });
  });

  it("reads all kinds of options", () => {
    const args = ["--at-once", "3", "--profile", "vf256", "--parts", "two", "--forms", "--cpu-prof", "d"];
    expect(parseOptions([...args, "--json", "x", "--check"], specs)).toEqual({
      options: { ...standard, atOnce: 3, profile: "vf256", parts: ["two"], forms: true, cpuProf: "d" },
      json: "x",
      check: true,
    });
    expect(parseOptions(["-h"], specs)).toBe("help");
  });

  it.each([
    { args: ["--nodes", "0"], problem: '--nodes must be a whole number from 1 to 65536, not "0"' },
    { args: ["--nodes", "1e3"], problem: '--nodes must be a whole number from 1 to 65536, not "1e3"' },
    { args: ["--at-once", "-1"], problem: "ambiguous" },
    { args: ["--profile", "x"], problem: '--profile must be pf6 or vf256, not "x"' },
    { args: ["--parts", "three"], problem: '--parts must be one or two, not "three"' },
    { args: ["--frobnicate"], problem: "--frobnicate" },
    { args: ["what"], problem: "what" },
  ])("refuses $args", ({ args, problem }) => {
    const message = expect.stringContaining(problem) as unknown;
    expect(() => parseOptions(args, specs)).toThrow(expect.objectContaining({ code: "usage", message }));
  });
});

describe("describeOptions", () => {
  it("names the flag, its value and its default", () => {
    expect(describeOptions(specs).split("\n")).toEqual([
      "  --nodes N            number of nodes (default 1000)",
      "  --at-once N          starts at once (default 50)",
      "  --profile NAME       6 PFs, or 2 (pf6 or vf256; default pf6)",
      "  --parts NAME         what is measured (one, two; can be repeated; default: all)",
      "  --forms              other ways",
      "  --cpu-prof DIR       write a profile",
      "",
    ]);
  });
});

describe("every scenario", () => {
  it.each(scenarios.map((scenario) => ({ ...scenario })))("has defaults within their ranges: $name", ({ options }) => {
    for (const spec of Object.values(options)) {
      if (!("count" in spec)) continue;
      const { count, quick = count, range } = spec;
      expect([count, quick].filter((value) => value < range[0] || value > range[1])).toEqual([]);
    }
  });
});
