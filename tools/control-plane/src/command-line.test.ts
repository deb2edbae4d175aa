// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseCommandLine, renderCommandLine } from "./command-line.ts";

describe("parseCommandLine", () => {
  it("starts in the foreground, with CRDs, unless told otherwise", () => {
    const start = { verb: "start", detach: false, controllerManager: false, auditLog: false, crds: true };
    expect(parseCommandLine([])).toEqual({ ...start, dataDir: undefined });
    expect(parseCommandLine(["start", "--detach", "--no-crds", "--data-dir", "/d"])).toEqual({
      ...start,
      detach: true,
      crds: false,
      dataDir: "/d",
    });
  });

  it.each([
    { args: ["stop"], verb: "stop" },
    { args: ["--help"], verb: "help" },
    { args: ["restart"], verb: "misused" },
    { args: ["stop", "now"], verb: "misused" },
    { args: ["--detached"], verb: "misused" },
    { args: ["--data-dir"], verb: "misused" },
  ])("reads $args as $verb", ({ args, verb }) => {
    expect(parseCommandLine(args).verb).toBe(verb);
  });

  it("reads back what the process in the background is started with", () => {
    const command = fc.record({
      verb: fc.constant("start" as const),
      detach: fc.constant(false),
      controllerManager: fc.boolean(),
      auditLog: fc.boolean(),
      crds: fc.boolean(),
      dataDir: fc.option(fc.stringMatching(/^\/[\w /]*$/), { nil: undefined }),
    });
    const agrees = fc.property(command, (each) => {
      expect(parseCommandLine(renderCommandLine(each))).toEqual(each);
    });
    fc.assert(agrees);
  });
});
