// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { durationMs, integer, oneOf, text, yesOrNo } from "./flag-kinds.ts";
import { flag, parseFlags, type Environment } from "./flags.ts";
import { renderHelp } from "./help.ts";
import { ServiceError } from "../errors.ts";

const flags = {
  nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "Name of the node." }),
  hostRoot: flag(text("DIR"), { env: "HOST_ROOT", help: "Where the host's files are." }),
  mode: flag(oneOf("daemon", "systemd"), { default: "daemon", env: "MODE", help: "Way to run." }),
  resyncMs: flag(durationMs, { default: "5m", env: "RESYNC", help: "Time between full syncs." }),
  workers: flag(integer({ minimum: 1, maximum: 64 }), { default: "4", env: "WORKERS", help: "Keys at once." }),
  useCdi: flag(yesOrNo, { default: "false", env: "USE_CDI", help: "Offer devices by CDI." }),
};

/** Returns the values, or the code and message of the problem. */
function parse(argv: readonly string[], env: Environment = {}): unknown {
  const parsed = parseFlags(flags, argv, env);
  if (parsed.kind === "run") return parsed.values;
  return parsed.kind === "invalid" ? [parsed.problem.code, parsed.problem.message] : parsed.kind;
}

const byDefault = { hostRoot: undefined, mode: "daemon", resyncMs: 300_000, workers: 4, useCdi: false };

describe("parseFlags", () => {
  it("fills in defaults and leaves optional flags undefined", () => {
    expect(parse(["--node-name", "w1"])).toEqual({ ...byDefault, nodeName: "w1" });
  });

  it("prefers the command line to the environment and the environment to the default", () => {
    const env = { NODE_NAME: "from-env", MODE: "systemd", WORKERS: "8" };
    expect(parse(["--workers=16"], env)).toMatchObject({ nodeName: "from-env", mode: "systemd", workers: 16 });
  });

  it("treats an empty variable as not set", () => {
    expect(parse(["--node-name", "w1"], { WORKERS: "", HOST_ROOT: "" })).toEqual({ ...byDefault, nodeName: "w1" });
  });

  it("uses the last value of a flag that is given twice", () => {
    expect(parse(["--node-name", "a", "--node-name=b"])).toMatchObject({ nodeName: "b" });
  });

  it.each([
    [["--use-cdi"], true],
    [["--use-cdi=true"], true],
    [["--use-cdi=false"], false],
  ])("reads %j as %j", (argv, useCdi) => {
    expect(parse(argv, { NODE_NAME: "w1", USE_CDI: useCdi ? "false" : "true" })).toMatchObject({ useCdi });
  });

  it("accepts a value that begins with a dash after an equals sign", () => {
    expect(parse(["--node-name=-w1"])).toMatchObject({ nodeName: "-w1" });
  });

  it.each([
    [[], "missing", "flag --node-name is required; set it or the environment variable NODE_NAME"],
    [["--wrokers", "4"], "unknown-flag", "unknown flag --wrokers; --help lists all flags"],
    [["--workers=4", "-x"], "unknown-flag", "unknown flag -x; --help lists all flags"],
    [["--no-use-cdi"], "unknown-flag", "unknown flag --no-use-cdi; --help lists all flags"],
    [["start"], "unexpected-argument", 'unexpected argument "start"'],
    [["--", "start"], "unexpected-argument", 'unexpected argument "start"'],
    [["--use-cdi", "false"], "unexpected-argument", 'unexpected argument "false"'],
    [["--mode"], "no-value", "flag --mode needs a value: expected one of daemon, systemd"],
    [["--mode", "--use-cdi"], "no-value", "flag --mode needs a value: expected one of daemon, systemd"],
    [["--node-name", ""], "bad-value", 'invalid value "" for flag --node-name: expected a text that is not empty'],
    [
      ["--node-name=a", "--workers", "0"],
      "bad-value",
      'invalid value "0" for flag --workers: expected a whole number from 1 to 64',
    ],
  ])("refuses %j: %s", (argv, code, message) => {
    expect(parse(argv)).toEqual([code, message]);
  });

  it("names the environment variable with an invalid value", () => {
    expect(parse(["--node-name=a"], { MODE: "foo" })).toEqual([
      "bad-value",
      'invalid value "foo" for environment variable MODE: expected one of daemon, systemd',
    ]);
  });

  it("returns help or version whatever the other arguments are", () => {
    expect([parse(["--wrong", "--help"]), parse(["-h"]), parse(["--version"])]).toEqual(["help", "help", "version"]);
  });
});

describe("flag", () => {
  it("throws for a default that is not valid", () => {
    expect(() => flag(durationMs, { default: "5", env: "RESYNC", help: "" })).toThrow(ServiceError);
  });
});

describe("renderHelp", () => {
  it("lists the default and the variable of each flag in lines of at most 80 columns", () => {
    const { nodeName, resyncMs } = flags;
    const useCdi = flag(yesOrNo, {
      default: "false",
      env: "USE_CDI",
      help: "Offer devices by CDI, the container device interface, to runtimes that know it.",
    });
    expect(renderHelp({ name: "tool", summary: "Does things.", flags: { nodeName, resyncMs, useCdi } })).toBe(
      [
        "Usage: tool [FLAG...]",
        "",
        "Does things.",
        "",
        "Flags:",
        "  --node-name NAME",
        "      Name of the node. (required, env NODE_NAME)",
        "  --resync-ms DURATION",
        "      Time between full syncs. (default 5m, env RESYNC)",
        "  --use-cdi",
        "      Offer devices by CDI, the container device interface, to runtimes that",
        "      know it. (default false, env USE_CDI)",
        "  -h, --help",
        "      Print this help and exit.",
        "  --version",
        "      Print the version and exit.",
        "",
      ].join("\n"),
    );
  });
});
