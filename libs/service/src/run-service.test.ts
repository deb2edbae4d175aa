// SPDX-License-Identifier: Apache-2.0
/** These tests start real processes: exit codes, signals and output are visible only from outside. */
import { describe, expect, it } from "@jest/globals";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { productVersion } from "./version.gen.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const script = join(__dirname, "testing/small-service.ts");
  return spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { NAMESPACE: "test", ...env },
  });
}

/** Returns the exit code and all output of a process. */
async function outcome(child: Child): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, stdout, stderr };
}

/** Reads the log until a line has this message, then collects the messages of the remaining lines. */
async function untilLogged(child: Child, message: string): Promise<{ line: LogLine; rest: Promise<string[]> }> {
  const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
  const next = async (): Promise<LogLine | undefined> => {
    const { done, value } = await lines.next();
    return done === true ? undefined : parseLine(value);
  };
  const collect = async (): Promise<string[]> => {
    const messages: string[] = [];
    for (let line = await next(); line !== undefined; line = await next()) messages.push(line.msg);
    return messages;
  };
  for (let line = await next(); line !== undefined; line = await next()) {
    if (line.msg === message) return { line, rest: collect() };
  }
  throw new Error(`the process ended before it logged "${message}"`);
}

interface LogLine {
  readonly msg: string;
  readonly healthPort: number | undefined;
}

function parseLine(line: string): LogLine {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== "object" || fields === null || !("msg" in fields)) throw new Error(`not a log line: ${line}`);
  const healthPort = "healthPort" in fields ? Number(fields.healthPort) : undefined;
  return { msg: String(fields.msg), healthPort };
}

describe("runService", () => {
  it("prints flags, defaults and variables for --help", async () => {
    const { code, stdout, stderr } = await outcome(start(["--help"], { NAMESPACE: "" }));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: small \[FLAG...\]\n\nWaits for a signal\.\n/);
    expect(stdout).toMatch(/ {2}--log-level error\|warn\|info\|debug\|trace\n.*\(default info, env LOG_LEVEL\)\n/);
    expect(stdout).toMatch(/ {2}--namespace NAMESPACE\n[^-]*\(required, env\n? *NAMESPACE\)\n/);
    expect(stdout).toMatch(/ {2}--size NUMBER\n.*\(default 3, env SIZE\)\n/);
  });

  it("prints its version", async () => {
    expect(await outcome(start(["--version"]))).toEqual({ code: 0, stdout: `small ${productVersion}\n`, stderr: "" });
  });

  it.each([
    [["--wrong"], {}, "small: unknown flag --wrong; --help lists all flags\n"],
    [["--size=10"], {}, 'small: invalid value "10" for flag --size: expected a whole number from 1 to 9\n'],
    [
      [],
      { LOG_LEVEL: "loud" },
      'small: invalid value "loud" for environment variable LOG_LEVEL: expected one of error, warn, info, debug, trace\n',
    ],
    [[], { NAMESPACE: "" }, "small: flag --namespace is required; set it or the environment variable NAMESPACE\n"],
  ])("exits 64 with one line for %j and %j", async (args, env, stderr) => {
    expect(await outcome(start(args, env))).toEqual({ code: 64, stdout: "", stderr });
  });

  it("exits 0 when main returns", async () => {
    expect((await outcome(start(["--behaviour", "finish"]))).code).toBe(0);
  });

  it.each([
    ["reject", "service failed", "the disk is full"],
    ["throw-later", "uncaught exception; exiting", "nobody awaits this"],
  ])("exits 1 and logs the error with behaviour %s", async (behaviour, msg, message) => {
    const { code, stderr } = await outcome(start(["--behaviour", behaviour]));
    expect(code).toBe(1);
    expect(JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      level: "error",
      msg,
      error: message,
    });
  });

  it("exits 1 when it cannot listen on its address", async () => {
    const { code, stderr } = await outcome(start(["--health-address", "192.0.2.1:80"]));
    expect([code, stderr]).toEqual([1, expect.stringContaining("listen on 192.0.2.1:80: EADDRNOTAVAIL")]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("aborts the signal of main and exits 0 on %s", async (signal) => {
    const child = start(["--health-address", "127.0.0.1:0"]);
    const { line } = await untilLogged(child, "started");
    expect((await fetch(`http://127.0.0.1:${line.healthPort ?? 0}/healthz`)).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("exits at once on a second signal when main hangs", async () => {
    const child = start(["--behaviour", "hang"]);
    const { rest } = await untilLogged(child, "working");
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const again = setInterval(() => child.kill("SIGTERM"), 100);
    expect(await ended).toEqual([1, null]);
    clearInterval(again);
    expect(await rest).toContain("second signal received; exiting before the work is finished");
  });

  it("exits within 10 s of a signal when main hangs", async () => {
    const child = start(["--behaviour", "hang"]);
    const { rest } = await untilLogged(child, "working");
    const ended = once(child, "exit");
    const sinceMs = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toEqual([1, null]);
    expect(performance.now() - sinceMs).toBeGreaterThan(9000); // not before the time limit
    expect(await rest).toEqual(["stopping", "stop timed out; exiting before the work is finished"]);
  }, 60_000);
});
