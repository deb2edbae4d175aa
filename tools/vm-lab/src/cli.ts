// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run vm -- VERB`: the lab from the command line.
 * Usage: `process.exitCode = await main(process.argv.slice(2))`
 */
import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { cacheDirectory, withBuildLock } from "./cache.ts";
import { buildLab, installPackages } from "./lab.ts";
import type { MachineOptions } from "./machine-options.ts";
import { createProgress, type Progress } from "./progress.ts";
import { runJob } from "./run-job.ts";
import { openShell } from "./shell.ts";
import { describeStatus } from "./status.ts";
import { VmLabError } from "./vm-lab-error.ts";

const usage = `npm run vm -- VERB: a real Linux kernel with two SR-IOV ports, in QEMU

  deps                          install the Debian packages that the lab needs (root)
  build [--with-modules]        build what is missing, for the kernel that apt offers now (root)
  run [OPTIONS] FILE [ARG...]   run a script or a bundle for Node in a guest; its exit code is this one's
  shell [OPTIONS]               a root shell in a guest, on its serial console
  status                        what is there and what is missing; exit code 1 when no guest could boot
  clean                         remove all that was built

OPTIONS
  --systemd              boot systemd instead of the fast init
  --udev                 real interface names in a fast boot (the shell has them anyway)
  --with-modules         also igbsw, netdevsim and the vDPA simulators
  --driver igb|igbsw     the driver of the ports; igbsw has an eswitch, and is one of the extra modules
  --share DIR            a directory that the guest has at /share; run shares the file's own
  --time-limit SECONDS   run only: when to kill the job (600)

Exit codes of its own: 64 wrong usage, 124 time limit, 125 the lab failed, 130 interrupted.
`;

const exitCodes = { ok: 0, notReady: 1, usage: 64, timeLimit: 124, labFailed: 125, interrupted: 130 };

/** Runs a verb; resolves with the exit code of the process. */
export async function main(args: readonly string[]): Promise<number> {
  const [verb = "", ...rest] = args;
  const progress = createProgress();
  try {
    return await runVerb(verb, rest, progress);
  } catch (error) {
    if (!(error instanceof VmLabError)) throw error;
    process.stderr.write(`vm-lab: ${error.message}\n`);
    if (error.code === "bad-option") return exitCodes.usage;
    if (error.code === "timed-out") return exitCodes.timeLimit;
    return error.code === "aborted" ? exitCodes.interrupted : exitCodes.labFailed;
  }
}

async function runVerb(verb: string, args: readonly string[], progress: Progress): Promise<number> {
  if (verb === "run") {
    const { options, timeLimitMs, rest } = parse(args);
    const [file, ...jobArgs] = rest;
    if (file === undefined) throw new VmLabError("bad-option", `run what?\n\n${usage}`);
    return runJob({ file, args: jobArgs, timeLimitMs }, options, progress, interruption());
  }
  const { options, rest } = parse(args);
  if (rest.length > 0) throw new VmLabError("bad-option", `${verb} takes no ${rest.join(" ")}\n\n${usage}`);
  switch (verb) {
    case "deps":
      await installPackages(["qemu", "image", "modules"], progress);
      return exitCodes.ok;
    case "build":
      await buildLab({ withModules: options.withModules ?? false, progress });
      return exitCodes.ok;
    case "shell":
      return openShell({ ...options, udev: true }, progress, interruption());
    case "status": {
      const { ready, lines } = await describeStatus();
      process.stdout.write(`${lines.join("\n")}\n`);
      return ready ? exitCodes.ok : exitCodes.notReady;
    }
    case "clean": {
      const cache = cacheDirectory();
      const onWait = () => {
        progress.say("a build is running: waiting for its end");
      };
      await withBuildLock(cache, onWait, () => rm(cache, { recursive: true, force: true }));
      return exitCodes.ok;
    }
    case "help":
    case "--help":
      process.stdout.write(usage);
      return exitCodes.ok;
    default:
      throw new VmLabError("bad-option", verb === "" ? usage : `no such verb: ${verb}\n\n${usage}`);
  }
}

/** Options end at the first word that is none: what follows is the job's own. */
function parse(args: readonly string[]): { options: MachineOptions; timeLimitMs: number; rest: readonly string[] } {
  const options = {
    systemd: { type: "boolean" },
    udev: { type: "boolean" },
    "with-modules": { type: "boolean" },
    driver: { type: "string" },
    share: { type: "string" },
    "time-limit": { type: "string" },
  } as const;
  try {
    const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
    const end = tokens.find(({ kind }) => kind !== "option")?.index ?? args.length;
    const { values } = parseArgs({ args: args.slice(0, end), options });
    const { driver, share } = values;
    const timeLimitMs = Number(values["time-limit"] ?? "600") * 1000;
    if (!(timeLimitMs > 0)) throw new VmLabError("bad-option", "--time-limit takes a number of seconds");
    if (driver !== undefined && driver !== "igb" && driver !== "igbsw") {
      throw new VmLabError("bad-option", "--driver is igb or igbsw");
    }
    return {
      options: {
        boot: values.systemd ? "systemd" : "fast",
        ...(values.udev ? { udev: true } : {}),
        ...(driver === undefined ? {} : { driver }),
        ...(share === undefined ? {} : { share }),
        ...(values["with-modules"] ? { withModules: true } : {}),
      },
      timeLimitMs,
      rest: args.slice(args[end] === "--" ? end + 1 : end),
    };
  } catch (cause) {
    if (cause instanceof VmLabError) throw cause;
    throw new VmLabError("bad-option", `${cause instanceof Error ? cause.message : String(cause)}\n\n${usage}`, {
      cause,
    });
  }
}

/** The guest is disposed of on Ctrl-C, rather than left to the kernel. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      controller.abort();
    });
  }
  return controller.signal;
}
