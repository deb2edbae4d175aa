// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { outputOf, runProgram } from "./run-program.ts";

describe("runProgram", () => {
  it("returns the exit code and both outputs, and passes stdin and variables", async () => {
    const script = 'cat; echo "$SETTING" >&2; exit 3';
    expect(await runProgram("sh", ["-c", script], { input: "text", env: { SETTING: "x" } })).toEqual({
      status: "3",
      stdout: "text",
      stderr: "x\n",
    });
  });

  it("names the signal that ended the program", async () => {
    expect(await runProgram("sh", ["-c", "kill -KILL $$"])).toMatchObject({ status: "SIGKILL" });
  });

  it("ends well if the program does not read its input", async () => {
    expect(await runProgram("true", [], { input: "x".repeat(1 << 20) })).toMatchObject({ status: "0" });
  });

  it("rejects if there is no such program", async () => {
    await expect(runProgram("/no/such-program", [])).rejects.toMatchObject({
      code: "program",
      message: expect.stringContaining("cannot run /no/such-program: Error: spawn /no/such-program ENOENT"),
    });
  });
});

describe("outputOf", () => {
  it("returns stdout of a program that succeeds", async () => {
    expect(await outputOf("echo", ["one"])).toBe("one\n");
  });

  it("rejects with the command and what it printed if the program fails", async () => {
    await expect(outputOf("/bin/sh", ["-c", "echo why; exit 2"])).rejects.toMatchObject({
      code: "program",
      message: "sh -c echo why; exit 2: exit code 2: why",
    });
  });
});
