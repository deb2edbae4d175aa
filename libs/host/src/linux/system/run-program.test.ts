// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { runProgram } from "./run-program.ts";

const timeoutMs = 60_000;

describe("runProgram", () => {
  it("gives the program its input, and no other environment than what is named", async () => {
    const end = await runProgram(["sh", "-c", "cat; env | sort"], {
      timeoutMs,
      input: "text\n",
      env: { KEY: "value" },
    });
    expect(end).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^text\nKEY=value\nLC_ALL=C\nPATH=.*\n/),
      stderr: "",
    });
    expect(end?.stdout).not.toContain("HOME=");
  });

  it("does not mind a program that ends without reading its input", async () => {
    const end = await runProgram(["true"], { timeoutMs, input: "x".repeat(1 << 20) });
    expect(end?.code).toBe(0);
  });

  it("ends the program with its children when the signal aborts, also before the start", async () => {
    const stop = new AbortController();
    const running = runProgram(["sh", "-c", "sleep 600 & sleep 600"], { timeoutMs, signal: stop.signal });
    stop.abort();
    expect(await running).toBeUndefined();
    expect(await runProgram(["sleep", "600"], { timeoutMs, signal: AbortSignal.abort() })).toBeUndefined();
  });
});
