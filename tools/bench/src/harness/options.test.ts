// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { oneOf, text } from "@switchyard/service";
import { count, describeOptions, parseOptions, someOf, toggle } from "./options.ts";
import { scenarios } from "../scenarios.ts";

const specs = {
  nodes: count("number of nodes", { standard: 1000, quick: 20, range: [1, 65_536] }),
  atOnce: count("starts at once", { standard: 50, range: [1, 1000] }),
  profile: { help: "6 PFs, or 2", kind: oneOf("pf6", "vf256"), default: "pf6" },
  parts: { help: "what is measured", kind: someOf("one", "two"), default: "one,two", quick: "one" },
  forms: toggle("other ways"),
  cpuProf: { help: "write a profile", kind: text("DIR") },
};

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
    { args: ["--nodes", "0"], problem: 'invalid value "0" for flag --nodes: expected a whole number from 1 to 65536' },
    { args: ["--nodes", "1e3"], problem: 'invalid value "1e3" for flag --nodes' },
    { args: ["--at-once", "-1"], problem: "flag --at-once needs a value" },
    { args: ["--profile", "x"], problem: "flag --profile: expected one of pf6, vf256" },
    { args: ["--parts", "one,three"], problem: "flag --parts: expected some of one,two" },
    { args: ["--frobnicate"], problem: "--frobnicate" },
    { args: ["what"], problem: "what" },
  ])("refuses $args", ({ args, problem }) => {
    const message = expect.stringContaining(problem) as unknown;
    expect(() => parseOptions(args, specs)).toThrow(expect.objectContaining({ code: "usage", message }));
  });
});

describe("describeOptions", () => {
  it("names the option, its value and its default", () => {
    expect(describeOptions(specs).split("\n")).toEqual([
      "  --nodes NUMBER         number of nodes (a whole number from 1 to 65536; default 1000)",
      "  --at-once NUMBER       starts at once (a whole number from 1 to 1000; default 50)",
      "  --profile pf6|vf256    6 PFs, or 2 (one of pf6, vf256; default pf6)",
      "  --parts NAMES          what is measured (some of one,two; default one,two)",
      "  --forms                other ways",
      "  --cpu-prof DIR         write a profile",
      "",
    ]);
  });
});

describe("every scenario", () => {
  it.each(scenarios.map((scenario) => ({ ...scenario })))("has defaults within their ranges: $name", ({ options }) => {
    expect([parseOptions([], options), parseOptions(["--quick"], options)]).not.toContain("help");
  });
});
