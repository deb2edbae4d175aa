// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { stripVTControlCharacters } from "node:util";
import { createLogger, type LogLevel, type RootLogger } from "./logger.ts";

/** Returns a logger that appends its lines to `lines`. */
function loggerInto(lines: string[], level: LogLevel, isTTY = false): RootLogger {
  return createLogger({ service: "test", level, stream: { isTTY, write: (line) => lines.push(line) } });
}

function fieldsOf(line: string | undefined): unknown {
  return JSON.parse(line ?? "");
}

/** Returns `text` without colour codes. */
function uncoloured(text: string | undefined): string | undefined {
  return text === undefined ? undefined : stripVTControlCharacters(text);
}

describe("createLogger, on a pipe", () => {
  it("writes one JSON object per line, with level, time and service", () => {
    const lines: string[] = [];
    loggerInto(lines, "info").log.info({ node: "worker-1" }, "plan applied\nin full");
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
    expect(fieldsOf(lines[0])).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: "test",
      node: "worker-1",
      msg: "plan applied\nin full",
    });
  });

  it("has the message first and then the error with its causes in one line", () => {
    const lines: string[] = [];
    const cause = Object.assign(new Error("EBUSY"), { code: "EBUSY", syscall: "write" });
    const error = Object.assign(new Error("set sriov_numvfs 8", { cause }), { code: "HostError" });
    loggerInto(lines, "info").log.error({ node: "worker-1", error }, "step failed");
    expect(lines[0]).toMatch(
      /,"service":"test","msg":"step failed","error":"set sriov_numvfs 8: EBUSY","code":"HostError","node":"worker-1"\}\n$/,
    );
  });

  it("writes the stack of an error without a code at the end, and that of an expected one at level debug", () => {
    const lines: string[] = [];
    const { log, setLevel } = loggerInto(lines, "info");
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const expected = Object.assign(new Error("watch nodes", { cause }), { code: "ConnectionLost" });
    log.warn({ error: expected }, "failed");
    log.warn({ error: new TypeError("x is undefined") }, "failed");
    log.warn({ error: Object.assign(new TypeError("wrong argument"), { code: "ERR_INVALID_ARG_TYPE" }) }, "failed");
    setLevel("debug");
    log.warn({ error: expected }, "failed");
    expect(lines.map((line) => line.includes('"stack":'))).toEqual([false, true, true, true]);
    expect(fieldsOf(lines[0])).toMatchObject({ error: "watch nodes: connect ECONNREFUSED", code: "ConnectionLost" });
  });

  it("changes the level of existing children in both directions", () => {
    const lines: string[] = [];
    const { log, setLevel } = loggerInto(lines, "info");
    const child = log.child({ key: "a" }).child({ part: 1 });
    child.debug("hidden");
    setLevel("debug");
    child.debug("shown");
    setLevel("error");
    child.warn("hidden");
    expect(lines.map(fieldsOf)).toMatchObject([{ msg: "shown", key: "a", part: 1 }]);
  });
});

describe("createLogger, on a terminal", () => {
  it("writes readable text", () => {
    const lines: string[] = [];
    loggerInto(lines, "info", true).log.warn({ node: "worker-1", why: "too many VFs", vfs: [1, 2] }, "refused");
    expect(uncoloured(lines[0])).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}refused {2}node=worker-1 why="too many VFs" vfs=\[1,2\]\n$/,
    );
  });

  it("shows the message of an error with a code and the stack of one without", () => {
    const lines: string[] = [];
    const { log } = loggerInto(lines, "info", true);
    log.error({ error: Object.assign(new Error("no space"), { code: "ENOSPC" }) }, "failed");
    log.error({ error: new TypeError("x is undefined") }, "failed");
    log.error({ error: "thrown text" }, "failed");
    expect(uncoloured(lines[0])).toMatch(/ERROR failed: no space\n$/);
    expect(uncoloured(lines[1])).toMatch(
      /ERROR failed: x is undefined\nTypeError: x is undefined\n {4}at .*logger\.test/,
    );
    expect(uncoloured(lines[2])).toMatch(/ERROR failed: thrown text\n$/);
  });
});
