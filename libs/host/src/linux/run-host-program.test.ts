// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { runHostProgram, type HostProgramOptions } from "./system/run-program.ts";

const at = { action: "configure", target: "the boot loader" };

function run(script: string, options: Partial<HostProgramOptions> = {}): Promise<string> {
  return runHostProgram({ root: "/", at, failureCode: "FAILED", timeoutMs: 30_000, ...options }, ["sh", "-c", script]);
}

describe("runHostProgram", () => {
  it("returns the output, and passes no environment on", async () => {
    process.env["BOOT_SECRET"] = "x";
    expect(await run("echo ${BOOT_SECRET-none}")).toBe("none\n");
  });

  it("reports what the program printed", async () => {
    await expect(run("echo 'no space' >&2; exit 3")).rejects.toMatchObject({
      name: "HostError",
      code: "FAILED",
      words: "no space",
      message: "configure on the boot loader: FAILED (no space)",
    });
    await expect(run("exit 3")).rejects.toMatchObject({ words: "sh failed with exit code 3" });
  });

  it("reports a program that does not exist", async () => {
    const missing = runHostProgram({ root: "/", at, failureCode: "FAILED", timeoutMs: 1_000 }, ["no-such-program"]);
    await expect(missing).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("kills a program that hangs, and its children, which keep its output open", async () => {
    const child = "sleep 86753 & echo $! >&2; wait";
    const error: unknown = await run(child, { timeoutMs: 300 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ETIMEDOUT", words: "sh did not end within 0.3 s" });
    expect(await run("pgrep -f '[s]leep 86753' || echo none")).toBe("none\n");
  });
});
