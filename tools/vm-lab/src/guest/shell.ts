// SPDX-License-Identifier: Apache-2.0
/**
 * openShell opens a shell in a guest: on a terminal, the serial console of the guest; otherwise it runs the commands from standard
 * input.
 */
import type { Progress } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootGuest } from "./boot-guest.ts";
import { packInitrd } from "../image/initrd.ts";
import { ensureLab } from "../image/lab.ts";
import { machineFor, labOf, type MachineOptions } from "../qemu/machine-options.ts";
import { qemuArguments } from "../qemu/qemu-arguments.ts";
import { qemuErrors, qemuCommand } from "../qemu/qemu-process.ts";
import { settledBefore } from "./guest.ts";
import { VmLabError } from "../vm-lab-error.ts";

/** Returns the exit code of the shell, or on a terminal that of QEMU. Ctrl-A x ends QEMU. `signal` is used without a terminal only. */
export function openShell(options: MachineOptions, progress: Progress, signal: AbortSignal): Promise<number> {
  return process.stdin.isTTY ? openConsole(options, progress) : runCommands(options, progress, signal);
}

/** Uses the agent, because a console loses input that arrives before its shell has started. */
async function runCommands(options: MachineOptions, progress: Progress, signal: AbortSignal): Promise<number> {
  await ensureLab(labOf(options), progress);
  await using guest = await progress.during("boot", () => bootGuest({ ...options, progress, signal }));
  const bash = guest.spawn(["bash", "-s"], { input: true });
  bash.stdout.pipe(process.stdout, { end: false });
  bash.stderr.pipe(process.stderr, { end: false });
  process.stdin.on("data", (chunk) => void bash.write(chunk));
  process.stdin.on("end", () => {
    bash.endInput();
  });
  try {
    return await settledBefore(bash.exitCode, signal, () => new VmLabError("aborted", "the shell was killed"));
  } finally {
    process.stdin.destroy(); // may still be open if the shell exited by itself
  }
}

async function openConsole(options: MachineOptions, progress: Progress): Promise<number> {
  const lab = await ensureLab(labOf(options), progress);
  const directory = await mkdtemp(join(tmpdir(), "switchyard-vm-"));
  try {
    const initrd = join(directory, "initrd");
    await writeFile(initrd, await packInitrd(lab));
    const kernelArguments = [...(options.kernelArguments ?? []), ...terminalWords()];
    const args = qemuArguments(await machineFor({ ...options, kernelArguments }, lab, initrd, "terminal"));
    progress.say('booting; "exit" ends the guest, Ctrl-A x kills it');
    return await attach(lab.qemu, args, progress);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Passes the size and type of the terminal to the guest, because a serial line cannot transfer them. */
function terminalWords(): string[] {
  const [columns, rows] = process.stdout.isTTY ? process.stdout.getWindowSize() : [80, 24];
  const terminal = /^[\w.-]+$/.exec(process.env.TERM ?? "")?.[0] ?? "linux";
  return [`LAB_ROWS=${rows} LAB_COLUMNS=${columns} LAB_TERM=${terminal}`];
}

async function attach(program: string, args: readonly string[], progress: Progress): Promise<number> {
  const qemu = spawn(...qemuCommand(program, args), { stdio: ["pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = process;
  const firstWord = once(qemu.stdout, "readable");
  const exit = new Promise<number>((resolve, reject) => {
    qemu.on("error", reject);
    qemu.on("close", (code) => {
      resolve(code ?? 1);
    });
  });

  qemu.stderr.setEncoding("utf8").on("data", (text: string) => stderr.write(qemuErrors(text)));
  qemu.stdin.on("error", () => undefined); // QEMU has ended; its exit code is returned
  stdin.setRawMode(true).pipe(qemu.stdin);
  try {
    await progress.during("boot", () => Promise.race([firstWord, exit]));
    qemu.stdout.pipe(stdout, { end: false });
    return await exit;
  } finally {
    stdin.setRawMode(false).unpipe(qemu.stdin).pause();
  }
}
