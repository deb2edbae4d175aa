// SPDX-License-Identifier: Apache-2.0
/** Real processes: exit codes, signals and what is written can be seen from outside only. */
import { describe, expect, it } from "@jest/globals";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const script = join(__dirname, "testing/small-service.ts");
  return spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { NAMESPACE: "test", ...env },
  });
}

/** Exit code and all that a process writes. */
async function outcome(child: Child): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, stdout, stderr };
}

/** Reads the log until a line has this message, then goes on collecting the messages. */
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
  throw new Error(`ended before it logged "${message}"`);
}

interface LogLine {
  readonly msg: string;
  readonly healthPort?: number;
}

function parseLine(line: string): LogLine {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== "object" || fields === null || !("msg" in fields)) throw new Error(`not a log line: ${line}`);
  const healthPort = "healthPort" in fields ? Number(fields.healthPort) : undefined;
  return { msg: String(fields.msg), ...(healthPort === undefined ? {} : { healthPort }) };
}

describe("runService", () => {
  it("lists flags, defaults and variables for --help", async () => {
    const { code, stdout, stderr } = await outcome(start(["--help"], { NAMESPACE: "" }));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^small: does little\n/);
    expect(stdout).toMatch(/ {2}--log-level error\|warn\|info\|debug\|trace\n.*\(default info, env LOG_LEVEL\)\n/);
    expect(stdout).toMatch(/ {2}--namespace NAMESPACE\n.*\(required, env NAMESPACE\)\n/);
    expect(stdout).toMatch(/ {2}--size NUMBER\n.*\(default 3, env SIZE\)\n/);
  });

  it("prints its version", async () => {
    expect(await outcome(start(["--version"]))).toEqual({ code: 0, stdout: "small 1.2.3\n", stderr: "" });
  });

  it.each([
    [["--wrong"], {}, "small: unknown flag --wrong; --help lists them\n"],
    [["--size=10"], {}, 'small: --size: "10" is not a whole number from 1 to 9\n'],
    [[], { LOG_LEVEL: "loud" }, 'small: LOG_LEVEL: "loud" is not one of error, warn, info, debug, trace\n'],
    [[], { NAMESPACE: "" }, "small: --namespace is missing; the variable NAMESPACE sets it too\n"],
  ])("exits 64 with one line for %j and %j", async (args, env, stderr) => {
    expect(await outcome(start(args, env))).toEqual({ code: 64, stdout: "", stderr });
  });

  it("exits 0 when its work is done", async () => {
    expect((await outcome(start(["--behaviour", "finish"]))).code).toBe(0);
  });

  it.each([
    ["reject", "failed", "the disk is full"],
    ["throw-later", "uncaught error", "nobody awaits this"],
  ])("exits 1 and says why when its work does %s", async (behaviour, msg, message) => {
    const { code, stderr } = await outcome(start(["--behaviour", behaviour]));
    expect(code).toBe(1);
    expect(JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      level: "error",
      msg,
      error: { message },
    });
  });

  it("exits 1 when it cannot have its port", async () => {
    const { code, stderr } = await outcome(start(["--health-address", "192.0.2.1:80"]));
    expect([code, stderr]).toEqual([1, expect.stringContaining("listen on 192.0.2.1:80: EADDRNOTAVAIL")]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stops its work and exits 0 on %s", async (signal) => {
    const child = start(["--health-address", "127.0.0.1:0"]);
    const { line } = await untilLogged(child, "started");
    expect((await fetch(`http://127.0.0.1:${line.healthPort ?? 0}/healthz`)).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("ends at once on a second signal, though the work hangs", async () => {
    const child = start(["--behaviour", "hang"]);
    const { rest } = await untilLogged(child, "working");
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const again = setInterval(() => child.kill("SIGTERM"), 100);
    expect(await ended).toEqual([1, null]);
    clearInterval(again);
    expect(await rest).toContain("ended by a second signal, with work in hand");
  });

  it("is gone within 10 s of a signal, though the work hangs", async () => {
    const child = start(["--behaviour", "hang"]);
    const { rest } = await untilLogged(child, "working");
    const ended = once(child, "exit");
    const sinceMs = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toEqual([1, null]);
    expect(performance.now() - sinceMs).toBeGreaterThan(9000); // it was given its time
    expect(await rest).toEqual(["stopping", "did not stop within 9500 ms, ended with work in hand"]);
  }, 60_000);
});
