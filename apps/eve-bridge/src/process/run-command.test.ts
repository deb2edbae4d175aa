// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { runCommand } from "./run-command.ts";
import { createStopSignal } from "./stop-signal.ts";
import { createScratch } from "../testing/scratch.ts";

const patient = { timeoutMs: 20_000 };
const sh = (script: string, options: Parameters<typeof runCommand>[2] = patient) =>
  runCommand("/bin/sh", ["-c", script], options);

describe("runCommand", () => {
  it("passes stdin and returns the output and the exit status", async () => {
    expect(await sh("cat; echo oops >&2; exit 3", { ...patient, stdin: "ü" })).toEqual({
      status: 3,
      stdout: "ü",
      stderr: "oops\n",
    });
  });

  it("works for a program that does not read its stdin", async () => {
    expect((await sh("exit 0", { ...patient, stdin: "x".repeat(1 << 20) })).status).toBe(0);
  });

  it("returns a null status if a signal killed the program", async () => {
    expect((await sh("kill -9 $$")).status).toBeNull();
  });

  it("kills the program and its children on a timeout", async () => {
    using scratch = createScratch();
    const script = `sleep 1000 & echo $! > ${scratch.path("pid")}; wait`;
    await expect(sh(script, { timeoutMs: 300 })).rejects.toMatchObject({ code: cniCode.tryAgain });
    const pid = existsSync(scratch.path("pid")) ? readFileSync(scratch.path("pid"), "utf8").trim() : "";
    expect(pid).not.toBe("");
    while (isRunning(pid)) await delay(10); // the kernel kills it after the call that requests this
  });

  it("kills a program that prints too much", async () => {
    await expect(sh("yes")).rejects.toMatchObject({ code: cniCode.delegate });
  });

  it("kills the program on a stop signal, and starts nothing afterwards", async () => {
    const { signal, stop } = createStopSignal();
    const running = sh("sleep 1000", { ...patient, signal });
    stop();
    await expect(running).rejects.toMatchObject({ message: "stopped by a signal" });
    await expect(sh("true", { ...patient, signal })).rejects.toMatchObject({ message: "stopped by a signal" });
  });

  it("throws the system's error if the program cannot be started", async () => {
    await expect(runCommand("/nowhere/x", [], patient)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

/** Killed processes may be zombies for a moment. */
function isRunning(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
