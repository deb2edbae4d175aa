// SPDX-License-Identifier: Apache-2.0
/**
 * A running QEMU: its console goes to a file, its end and a kernel panic become one rejection.
 * Usage: `await using qemu = startQemu(qemuArguments(machine), consoleLog); await Promise.race([work, qemu.failure])`
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { qemuAdvice, qemuProgram } from "./requirements.ts";
import { VmLabError } from "./vm-lab-error.ts";

export interface QemuProcess extends AsyncDisposable {
  /** Never resolves; rejects with VmLabError `qemu-exited`, `guest-panicked` or `qemu-missing` when the guest is lost. */
  readonly failure: Promise<never>;
  /** The last lines on the console. */
  consoleTail(): string;
  /** Cuts the power: QEMU is killed, and with it all that the guest has written. */
  kill(): Promise<void>;
}

/** As much of the console as an error shows. */
const tailCharacters = 1500;
/**
 * Whether the kernel says that it panicked, in the line of panic.c that all versions have. The line must be whole, since
 * its end is the cause. A serial console ends lines with CR LF, and `.` matches no CR. The host looks for the line because
 * that needs no driver in the guest.
 */
export function tellsOfPanic(console: string): boolean {
  return /Kernel panic - not syncing[^\n]*\n/.test(console);
}

/**
 * QEMU's command line with the means to end with us: the kernel kills it when this process dies, however that happens.
 * setpriv is part of util-linux.
 */
export function mortalQemu(args: readonly string[]): [program: string, args: string[]] {
  return ["setpriv", ["--pdeathsig", "KILL", "--", qemuProgram, ...args]];
}

/** What QEMU said on stderr, without the warning that the cable between the two ports leads nowhere else. */
export function complaints(words: string): string {
  return words.replace(/^.*hub 0 is not connected to host network\n/gm, "");
}

/** Starts QEMU with the guest's console on its standard output, which is appended to `consoleLog`. */
export function startQemu(args: readonly string[], consoleLog: string): QemuProcess {
  const child = spawn(...mortalQemu(args), { stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(consoleLog, { flags: "a" });
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  failure.catch(() => undefined); // a guest that is not waited for may fail in peace
  let tail = "";
  let words = "";

  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    log.write(text);
    const recent = tail + text; // a piece may be longer than what is kept
    tail = recent.slice(-2 * tailCharacters);
    if (tellsOfPanic(recent)) {
      fail(new VmLabError("guest-panicked", "the guest's kernel panicked:", { output: consoleTail() }));
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
      const how = `QEMU ended (${signal ?? `exit ${String(code)}`}): the guest powered off, or QEMU failed:`;
      fail(new VmLabError("qemu-exited", how, { output: complaints(words) + consoleTail() }));
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
