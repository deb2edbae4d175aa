// SPDX-License-Identifier: Apache-2.0
/**
 * startQemu starts QEMU and writes its console to a file. The exit of QEMU and a kernel panic reject one promise.
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { qemuAdvice } from "../requirements.ts";
import { VmLabError } from "../vm-lab-error.ts";

export interface QemuProcess extends AsyncDisposable {
  /** Never resolves; rejects with VmLabError `qemu-exited`, `qemu-aborted`, `guest-stalled`, `guest-panicked` or `qemu-missing` when the guest is lost. */
  readonly failure: Promise<never>;
  /** Returns the end of the console output. */
  consoleTail(): string;
  /** Kills QEMU. Everything that the guest has written is lost. */
  kill(): Promise<void>;
}

/** For error messages. */
export const lostTimer = "a processor of the guest lost its timer, which is a fault of QEMU; run the job again";

/** Length of the console output in an error. */
const tailCharacters = 1500;
/**
 * Reports whether the console output contains the complete panic line of panic.c, which is the same in all versions and ends
 * with the cause. A serial console ends lines with CR LF, and `.` does not match CR. The host searches for the line because
 * this needs no driver in the guest.
 */
export function showsPanic(console: string): boolean {
  return /Kernel panic - not syncing[^\n]*\n/.test(console);
}

/**
 * Reports whether RCU has reported twice that the timer of a processor does not fire, with the same count of its timer
 * interrupts (kernel/rcu/tree_stall.h). QEMU 10.0 sometimes loses the timer of an emulated processor for good. A single
 * report can be the effect of a loaded host.
 */
export function showsStall(console: string): boolean {
  return /(Possible timer handling issue on cpu=\d+ timer-softirq=\d+)\r?\n[^]*\1\r?\n/.test(console);
}

/**
 * Returns the command that runs QEMU so that the kernel kills it when this process ends in any way. setpriv is part of
 * util-linux.
 */
export function qemuCommand(qemu: string, args: readonly string[]): [program: string, args: string[]] {
  return ["setpriv", ["--pdeathsig", "KILL", "--", qemu, ...args]];
}

/** Returns the stderr output of QEMU without the warning about the hub between the two ports. */
export function qemuErrors(words: string): string {
  return words.replace(/^.*hub 0 is not connected to host network\n/gm, "");
}

/** Starts the program `qemu`, and appends the console output of the guest to `consoleLog`. */
export function startQemu(qemu: string, args: readonly string[], consoleLog: string): QemuProcess {
  const child = spawn(...qemuCommand(qemu, args), { stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(consoleLog, { flags: "a" });
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  failure.catch(() => undefined); // callers need not wait for a failure
  let tail = "";
  let words = "";

  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    log.write(text);
    const recent = tail + text; // `text` may be longer than the stored tail
    tail = recent.slice(-2 * tailCharacters);
    if (showsStall(recent)) {
      fail(new VmLabError("guest-stalled", `${lostTimer}:`, { output: consoleTail() }));
      child.kill("SIGKILL");
    }
    if (showsPanic(recent)) {
      fail(new VmLabError("guest-panicked", "the kernel of the guest panicked:", { output: consoleTail() }));
      child.kill("SIGKILL");
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (words += text));
  const closed = new Promise<void>((resolve) => {
    child.on("error", (cause) => {
      fail(new VmLabError("qemu-missing", qemuAdvice, { cause }));
      log.end(resolve);
    });
    child.on("close", (code, signal) => {
      const how = `QEMU exited (${signal ?? `exit code ${String(code)}`}) because the guest powered off or QEMU failed:`;
      const cause = signal === "SIGABRT" ? "qemu-aborted" : "qemu-exited";
      fail(new VmLabError(cause, how, { output: qemuErrors(words) + consoleTail() }));
      log.end(resolve);
    });
  });

  function consoleTail(): string {
    return tail.replaceAll("\r", "").slice(-tailCharacters);
  }

  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await closed;
  }

  return { failure, consoleTail, kill, [Symbol.asyncDispose]: kill };
}
