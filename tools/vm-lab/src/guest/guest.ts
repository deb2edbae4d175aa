// SPDX-License-Identifier: Apache-2.0
/**
 * Guest is a booted guest, in which processes can run. Usage:
 * `await using guest = await bootGuest({ share }); const { code, stdout } = await guest.exec("ip -br link")`
 */
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import type { AgentConnection } from "./agent-connection.ts";
import type { Command, GuestProcess } from "./guest-process.ts";
import type { AskGuest, HangReport } from "./hang-report.ts";
import { lostTimer, type QemuProcess } from "../qemu/qemu-process.ts";
import { VmLabError } from "../vm-lab-error.ts";

/** The exit code and the output of a process. */
export interface ExecResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExecOptions {
  /**
   * After this time, the guest is asked what it does, the process is killed, and exec rejects with VmLabError `timed-out`, or
   * `guest-stalled` if a processor lost its timer. Two minutes by default.
   */
  readonly timeoutMs?: number;
  /** After this time without output, likewise: for processes that run long and report what they do. No limit by default. */
  readonly quietMs?: number;
  readonly signal?: AbortSignal;
}

export interface GuestParts {
  readonly agent: AgentConnection;
  readonly qemu: Pick<QemuProcess, "consoleTail">;
  /** QEMU and the temporary files of this guest. */
  readonly owned: AsyncDisposable;
  readonly env: Readonly<Record<string, string>>;
  readonly consoleLog: string;
  readonly bootTimeoutMs: number;
  /** Finds out why a process does not end within its limit. */
  readonly reportHang: (ask: AskGuest) => Promise<HangReport>;
  /** Command that reboots the guest. */
  readonly rebootCommand: string;
  /** Command that ends when the boot is complete, after the agent has answered. */
  readonly settledCommand: string;
}

/** Created by bootGuest. Disposing of it kills QEMU; its disk is discarded. */
export class Guest implements AsyncDisposable {
  /** File with the output of the serial console. */
  readonly consoleLog: string;
  readonly #parts: GuestParts;

  constructor(parts: GuestParts) {
    this.#parts = parts;
    this.consoleLog = parts.consoleLog;
  }

  /** Starts a process and returns at once. Set `input` to write to the process. */
  spawn(command: Command, options: { readonly input?: boolean } = {}): GuestProcess {
    const argv = typeof command === "string" ? ["sh", "-c", command] : command;
    return this.#parts.agent.start(argv, this.#parts.env, options.input ?? false);
  }

  /** Runs a process to its end and returns any exit code. Rejects with VmLabError if the guest or the process does not answer. */
  async exec(command: Command, options: ExecOptions = {}): Promise<ExecResult> {
    return this.#finish(this.spawn(command), typeof command === "string" ? command : command.join(" "), options);
  }

  /** Copies a file of the host to the guest and sets its octal mode. Use `share` for large files, which is faster. */
  async push(file: string, guestPath: string, options: ExecOptions & { readonly mode?: string } = {}): Promise<void> {
    const script = 'mkdir -p "$(dirname "$0")" && cat >"$0" && chmod "$1" "$0"';
    const process = this.spawn(["sh", "-c", script, guestPath, options.mode ?? "644"], { input: true });
    const feed = async () => {
      for await (const chunk of createReadStream(file)) await process.write(Buffer.from(chunk));
      process.endInput();
    };
    const [{ code, stderr }] = await Promise.all([this.#finish(process, `writing ${guestPath}`, options), feed()]);
    if (code !== 0) throw new VmLabError("bad-option", `cannot write ${guestPath} in the guest:`, { output: stderr });
  }

  /** Reboots the guest and waits for it. The disk keeps its content. `hard` resets the guest without sync. */
  async reboot(options: { readonly hard?: boolean } = {}): Promise<void> {
    const next = this.nextBoot();
    this.spawn(options.hard === true ? "echo b >/proc/sysrq-trigger" : this.#parts.rebootCommand);
    await next;
  }

  /** Waits for a reboot that a process in the guest causes. Call it before the reboot. Rejects with VmLabError `boot-timed-out`. */
  async nextBoot(): Promise<void> {
    const { agent, bootTimeoutMs, qemu, settledCommand } = this.#parts;
    const limit = AbortSignal.timeout(bootTimeoutMs);
    const late = () => {
      const message = `the guest did not boot within ${bootTimeoutMs / 1000} s; end of its console:`;
      return new VmLabError("boot-timed-out", message, { output: qemu.consoleTail() });
    };
    await settledBefore(agent.nextBoot(), limit, late);
    await settledBefore(this.spawn(settledCommand).exitCode, limit, late);
  }

  /** Kills QEMU. Running processes reject with VmLabError `guest-killed`. */
  async kill(): Promise<void> {
    this.#parts.agent.lose(new VmLabError("guest-killed", "the guest was killed"));
    await this.#parts.owned[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #finish(process: GuestProcess, what: string, options: ExecOptions): Promise<ExecResult> {
    const { timeoutMs = 120_000, quietMs = timeoutMs, signal } = options;
    const said = { stdout: "", stderr: "" };
    const limit = new AbortController();
    const total = setTimeout(() => {
      limit.abort(`${timeoutMs / 1000} s`);
    }, timeoutMs);
    const quiet = setTimeout(() => {
      limit.abort(`${quietMs / 1000} s without output`);
    }, quietMs);
    const collect = async (stream: "stdout" | "stderr") => {
      for await (const piece of process[stream].setEncoding("utf8")) {
        said[stream] += String(piece);
        quiet.refresh();
      }
    };
    const ended = Promise.all([process.exitCode, collect("stdout"), collect("stderr")]);
    const limits = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
    const tooLate = new Error("a limit was reached");
    try {
      const [code] = await settledBefore(ended, limits, () => tooLate);
      return { code, ...said };
    } catch (error) {
      if (error !== tooLate) throw error;
      const output = said.stdout + said.stderr;
      const failure = limit.signal.aborted
        ? await this.#explainHang(`${what}: killed after ${String(limit.signal.reason)}`, output)
        : new VmLabError("aborted", `${what}: killed because the caller aborted`, { output, cause: signal?.reason });
      process.kill("SIGKILL");
      throw failure;
    } finally {
      clearTimeout(total);
      clearTimeout(quiet);
    }
  }

  /** Tells a processor or a kernel that hangs from a process that does. */
  async #explainHang(message: string, output: string): Promise<VmLabError> {
    const report = await this.#parts.reportHang((command) => this.#answerOf(command));
    const console = this.#parts.qemu.consoleTail();
    const parts = [output, report.text, console && `end of the console:\n${console}`].filter(Boolean);
    return new VmLabError(
      report.isStalled ? "guest-stalled" : "timed-out",
      `${message}${report.isStalled ? `, because ${lostTimer}` : ""}; its output until then, and what the guest did:`,
      { output: parts.join("\n") },
    );
  }

  /** As AskGuest says. */
  async #answerOf(command: string): Promise<string | undefined> {
    const process = this.spawn(command);
    try {
      return await settledBefore(text(process.stdout), AbortSignal.timeout(answerMs), () => new Error("no answer"));
    } catch {
      process.kill("SIGKILL");
      return undefined;
    }
  }
}

/** A guest that works answers within a second, on a loaded host too. */
const answerMs = 10_000;

/**
 * settledBefore waits for a promise until a signal aborts.
 * Settles as `promise` does, or rejects with the error of `failure` when `limit` aborts.
 */
export async function settledBefore<T>(promise: Promise<T>, limit: AbortSignal, failure: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    reject(failure());
  };
  limit.addEventListener("abort", onAbort, { once: true });
  if (limit.aborted) onAbort();
  try {
    return await Promise.race([promise, late]);
  } finally {
    limit.removeEventListener("abort", onAbort);
  }
}
