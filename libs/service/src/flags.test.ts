// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { durationMs, integer, oneOf, text, yesOrNo } from "./flag-kinds.ts";
import { flag, parseFlags, type Environment } from "./flags.ts";
import { renderHelp } from "./help.ts";
import { ServiceError } from "./service-error.ts";

const flags = {
  nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "Name of the node." }),
  hostRoot: flag(text("DIR"), { env: "HOST_ROOT", help: "Where the host's files are." }),
  mode: flag(oneOf("daemon", "systemd"), { default: "daemon", env: "MODE", help: "Way to run." }),
  resyncMs: flag(durationMs, { default: "5m", env: "RESYNC", help: "Time between full syncs." }),
  workers: flag(integer({ minimum: 1, maximum: 64 }), { default: "4", env: "WORKERS", help: "Keys at once." }),
  useCdi: flag(yesOrNo, { default: "false", env: "USE_CDI", help: "Offer devices by CDI." }),
};

/** Values, or the problem's code and line. */
function parse(argv: readonly string[], env: Environment = {}): unknown {
  const parsed = parseFlags(flags, argv, env);
  if (parsed.asked === "run") return parsed.values;
  return parsed.asked === "nothing" ? [parsed.problem.code, parsed.problem.message] : parsed.asked;
}

const byDefault = { hostRoot: undefined, mode: "daemon", resyncMs: 300_000, workers: 4, useCdi: false };

describe("parseFlags", () => {
  it("fills in defaults, and leaves the optional absent", () => {
    expect(parse(["--node-name", "w1"])).toEqual({ ...byDefault, nodeName: "w1" });
  });

  it("takes the command line before the environment before the default", () => {
    const env = { NODE_NAME: "from-env", MODE: "systemd", WORKERS: "8" };
    expect(parse(["--workers=16"], env)).toMatchObject({ nodeName: "from-env", mode: "systemd", workers: 16 });
  });

  it("takes an empty variable for none", () => {
    expect(parse(["--node-name", "w1"], { WORKERS: "", HOST_ROOT: "" })).toEqual({ ...byDefault, nodeName: "w1" });
  });

  it("lets the last of two win", () => {
    expect(parse(["--node-name", "a", "--node-name=b"])).toMatchObject({ nodeName: "b" });
  });

  it.each([
    [["--use-cdi"], true],
    [["--use-cdi=true"], true],
    [["--use-cdi=false"], false],
  ])("takes %j for %j", (argv, useCdi) => {
    expect(parse(argv, { NODE_NAME: "w1", USE_CDI: useCdi ? "false" : "true" })).toMatchObject({ useCdi });
  });

  it("lets a value begin with a dash when it is tied to its flag", () => {
    expect(parse(["--node-name=-w1"])).toMatchObject({ nodeName: "-w1" });
  });

  it.each([
    [[], "missing", "--node-name is missing; the variable NODE_NAME sets it too"],
    [["--wrokers", "4"], "unknown-flag", "unknown flag --wrokers; --help lists them"],
    [["--workers=4", "-x"], "unknown-flag", "unknown flag -x; --help lists them"],
    [["--no-use-cdi"], "unknown-flag", "unknown flag --no-use-cdi; --help lists them"],
    [["start"], "unexpected-argument", 'unexpected argument "start"'],
    [["--", "start"], "unexpected-argument", 'unexpected argument "start"'],
    [["--use-cdi", "false"], "unexpected-argument", 'unexpected argument "false"'],
    [["--mode"], "no-value", "--mode needs a value, one of daemon, systemd"],
    [["--mode", "--use-cdi"], "no-value", "--mode needs a value, one of daemon, systemd"],
    [["--node-name", ""], "bad-value", '--node-name: "" is not a text of at least one character'],
    [["--node-name=a", "--workers", "0"], "bad-value", '--workers: "0" is not a whole number from 1 to 64'],
  ])("refuses %j: %s", (argv, code, message) => {
    expect(parse(argv)).toEqual([code, message]);
  });

  it("names the variable that holds a bad value", () => {
    expect(parse(["--node-name=a"], { MODE: "foo" })).toEqual([
      "bad-value",
      'MODE: "foo" is not one of daemon, systemd',
    ]);
  });

  it("answers --help and --version whatever else is there", () => {
    expect([parse(["--wrong", "--help"]), parse(["-h"]), parse(["--version"])]).toEqual(["help", "help", "version"]);
  });
});

describe("flag", () => {
  it("refuses a default that is none, when the process starts", () => {
    expect(() => flag(durationMs, { default: "5", env: "RESYNC", help: "" })).toThrow(ServiceError);
  });
});

describe("renderHelp", () => {
  it("names the default and the variable of each flag", () => {
    const { nodeName, resyncMs, useCdi } = flags;
    expect(renderHelp({ name: "tool", summary: "does things", flags: { nodeName, resyncMs, useCdi } })).toBe(
      [
        "tool: does things",
        "",
        "Usage: tool [flags]",
        "",
        "  --node-name NAME",
        "        Name of the node. (required, env NODE_NAME)",
        "  --resync-ms DURATION",
        "        Time between full syncs. (default 5m, env RESYNC)",
        "  --use-cdi",
        "        Offer devices by CDI. (default false, env USE_CDI)",
        "  --help",
        "        Print this and exit.",
        "  --version",
        "        Print the version and exit.",
        "",
      ].join("\n"),
    );
  });
});
