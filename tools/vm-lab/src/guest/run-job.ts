// SPDX-License-Identifier: Apache-2.0
/** runJob runs a script or a Node bundle in a new guest. */
import type { Progress } from "@switchyard/testing";
import { access, constants } from "node:fs/promises";
import { dirname, extname, isAbsolute, relative, resolve } from "node:path";
import { bootGuest } from "./boot-guest.ts";
import { ensureLab } from "../image/lab.ts";
import { labOf, type MachineOptions } from "../qemu/machine-options.ts";
import { settledBefore } from "./guest.ts";
import { VmLabError } from "../vm-lab-error.ts";

export interface Job {
  /** A Node bundle (.js, .mjs, .cjs), or a script. A script that is not executable is run by sh. */
  readonly file: string;
  readonly args: readonly string[];
  readonly timeLimitMs: number;
}

/** Streams the output of the job and returns its exit code. By default, the directory of the file is mounted at /share. */
export async function runJob(
  job: Job,
  options: MachineOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const share = resolve(options.share ?? dirname(job.file));
  const command = await commandFor(job.file, share);
  await ensureLab(labOf(options), progress); // a build prints its own progress
  await using guest = await progress.during("boot", () => bootGuest({ ...options, share, progress, signal }));

  const running = guest.spawn(["sh", "-c", 'cd /share && exec "$@"', "sh", ...command, ...job.args]);
  running.stdout.pipe(process.stdout, { end: false });
  running.stderr.pipe(process.stderr, { end: false });
  const limit = AbortSignal.timeout(job.timeLimitMs);
  return await settledBefore(running.exitCode, AbortSignal.any([limit, signal]), () => {
    const seconds = job.timeLimitMs / 1000;
    return limit.aborted
      ? new VmLabError("timed-out", `${job.file} was killed after its time limit of ${seconds} s (--time-limit)`)
      : new VmLabError("aborted", `${job.file} was killed`);
  });
}

/** Returns the command that runs `file` in the guest, where `share` is the working directory. */
async function commandFor(file: string, share: string): Promise<string[]> {
  const path = relative(share, resolve(file));
  if (path.startsWith("..") || isAbsolute(path)) {
    throw new VmLabError("bad-option", `${file} is not in the shared directory ${share}`);
  }
  const can = async (mode: number) => {
    const refusal = await access(file, mode).catch((error: unknown) => error);
    return refusal === undefined;
  };
  if (!(await can(constants.R_OK))) throw new VmLabError("bad-option", `cannot read ${file}`);
  if ([".js", ".mjs", ".cjs"].includes(extname(file))) return ["node", path];
  return (await can(constants.X_OK)) ? [`./${path}`] : ["sh", path];
}
