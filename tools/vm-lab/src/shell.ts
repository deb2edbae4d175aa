// SPDX-License-Identifier: Apache-2.0
/**
 * A person's shell in a guest: its serial console on this terminal. Without a terminal, the commands of standard input.
 * Usage: `process.exitCode = await openShell({ udev: true }, progress, signal)`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootGuest } from "./boot-guest.ts";
import { packInitrd } from "./initrd.ts";
import { ensureLab } from "./lab.ts";
import { machineFor, needsModules, type MachineOptions } from "./machine-options.ts";
import type { Progress } from "./progress.ts";
import { qemuArguments } from "./qemu-arguments.ts";
import { complaints, mortalQemu } from "./qemu-process.ts";
import { settledBefore } from "./time-limit.ts";
import { VmLabError } from "./vm-lab-error.ts";

/** Ends when the shell does, or by Ctrl-A x. Its exit code; on a terminal QEMU's. `signal` is for a shell without terminal. */
export function openShell(options: MachineOptions, progress: Progress, signal: AbortSignal): Promise<number> {
  return process.stdin.isTTY ? openConsole(options, progress) : runCommands(options, progress, signal);
}

/** Over the agent: a console would lose what comes before its shell listens. */
async function runCommands(options: MachineOptions, progress: Progress, signal: AbortSignal): Promise<number> {
  await ensureLab({ withModules: needsModules(options), progress });
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
    process.stdin.destroy(); // it may be open still: the shell was told to exit
  }
}

async function openConsole(options: MachineOptions, progress: Progress): Promise<number> {
  const lab = await ensureLab({ withModules: needsModules(options), progress });
  const directory = await mkdtemp(join(tmpdir(), "switchyard-vm-"));
  try {
    const initrd = join(directory, "initrd");
    await writeFile(initrd, await packInitrd(lab));
    const kernelArguments = [...(options.kernelArguments ?? []), ...terminalWords()];
    const args = qemuArguments(await machineFor({ ...options, kernelArguments }, lab, initrd, "terminal"));
    progress.say('the guest boots; "exit" ends it, Ctrl-A x cuts its power');
    return await attach(args, progress);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A serial line cannot tell the guest what terminal is at its other end. */
function terminalWords(): string[] {
  const [columns, rows] = process.stdout.isTTY ? process.stdout.getWindowSize() : [80, 24];
  const terminal = /^[\w.-]+$/.exec(process.env.TERM ?? "")?.[0] ?? "linux";
  return [`LAB_ROWS=${rows} LAB_COLUMNS=${columns} LAB_TERM=${terminal}`];
}

async function attach(args: readonly string[], progress: Progress): Promise<number> {
  const qemu = spawn(...mortalQemu(args), { stdio: ["pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = process;
  const firstWord = once(qemu.stdout, "readable");
  const exit = new Promise<number>((resolve, reject) => {
    qemu.on("error", reject);
    qemu.on("close", (code) => {
      resolve(code ?? 1);
    });
  });

  qemu.stderr.setEncoding("utf8").on("data", (text: string) => stderr.write(complaints(text)));
  qemu.stdin.on("error", () => undefined); // QEMU is gone: its exit code says so
  stdin.setRawMode(true).pipe(qemu.stdin);
  try {
    await progress.during("boot", () => Promise.race([firstWord, exit]));
    qemu.stdout.pipe(stdout, { end: false });
    return await exit;
  } finally {
    stdin.setRawMode(false).unpipe(qemu.stdin).pause();
  }
}
