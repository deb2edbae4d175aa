// SPDX-License-Identifier: Apache-2.0
/** The command line of the lab: `npm run vm -- VERB`. */
import { createProgress, type Progress } from "@switchyard/testing";
import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { cacheDirectory, withBuildLock } from "./image/cache.ts";
import { extraModulesKey } from "./image/extra-modules.ts";
import { imageKey } from "./image/image.ts";
import { buildLab, findLab, installPackages } from "./image/lab.ts";
import { isNumberOfVirtioVfs, labOf, type MachineOptions } from "./qemu/machine-options.ts";
import { buildNewestQemu, findQemuWithVirtioVfs } from "./image/newer-qemu.ts";
import { maxVirtioVfs } from "./qemu/qemu-arguments.ts";
import { chooseAccelerator, hasQemu, isRoot, qemuAdvice } from "./requirements.ts";
import { runJob } from "./guest/run-job.ts";
import { openShell } from "./guest/shell.ts";
import { VmLabError } from "./vm-lab-error.ts";

const usage = `npm run vm -- VERB: run a real Linux kernel with two SR-IOV ports in QEMU

  deps                          install the Debian packages that the lab needs (as root)
  build [OPTIONS]               build missing parts for the kernel in apt (as root)
  run [OPTIONS] FILE [ARG...]   run a script or a Node bundle in a guest, and return its exit code
  shell [OPTIONS]               open a root shell on the serial console of a guest
  status                        show built and missing parts; exit code 1 if no guest can boot
  clean                         remove everything that was built

OPTIONS
  --systemd              boot with systemd instead of the fast init
  --udev                 run udev in a fast boot, for real interface names (default in a shell)
  --driver igb|igbsw     driver of the ports; igbsw has an eswitch
  --kernel 6.12|backports  kernel of the guest; backports is the newest of Debian's, without igbsw
  --virtio-vfs N         add a virtio NIC with N VFs, at most 7, which needs a newer QEMU; it is unpacked into the cache
  --share DIR            directory to mount at /share; default for run: the directory of FILE
  --time-limit SECONDS   run only: kill the job after this time (default 600)

Exit codes besides those of a job: 64 wrong usage, 124 time limit, 125 the lab failed, 130 interrupted.
`;

const exitCodes = { ok: 0, notReady: 1, usage: 64, timeLimit: 124, labFailed: 125, interrupted: 130 };

/** Runs a verb and returns the exit code of the process. */
export async function main(args: readonly string[]): Promise<number> {
  const [verb = "", ...rest] = args;
  const progress = createProgress({ name: "vm-lab" });
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
    if (file === undefined) throw new VmLabError("bad-option", `run needs a FILE\n\n${usage}`);
    return runJob({ file, args: jobArgs, timeLimitMs }, options, progress, interruption());
  }
  const { options, rest } = parse(args);
  if (rest.length > 0)
    throw new VmLabError("bad-option", `unexpected argument of ${verb}: ${rest.join(" ")}\n\n${usage}`);
  switch (verb) {
    case "deps":
      await installPackages(["qemu", "image", "modules"], progress);
      return exitCodes.ok;
    case "build":
      await buildLab(labOf(options), progress);
      if (labOf(options).virtioVfs) await buildNewestQemu(progress);
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
        progress.say("waiting for a running build to end");
      };
      await withBuildLock(cache, onWait, () => rm(cache, { recursive: true, force: true }));
      return exitCodes.ok;
    }
    case "help":
    case "--help":
      process.stdout.write(usage);
      return exitCodes.ok;
    default:
      throw new VmLabError("bad-option", verb === "" ? usage : `unknown verb "${verb}"\n\n${usage}`);
  }
}

/** Options end at the first argument that is not an option. The following arguments belong to the job. */
function parse(args: readonly string[]): { options: MachineOptions; timeLimitMs: number; rest: readonly string[] } {
  const options = {
    systemd: { type: "boolean" },
    udev: { type: "boolean" },
    driver: { type: "string" },
    kernel: { type: "string" },
    share: { type: "string" },
    "virtio-vfs": { type: "string" },
    "time-limit": { type: "string" },
  } as const;
  try {
    const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
    const end = tokens.find(({ kind }) => kind !== "option")?.index ?? args.length;
    const { values } = parseArgs({ args: args.slice(0, end), options });
    const { driver, kernel, share } = values;
    const timeLimitMs = Number(values["time-limit"] ?? "600") * 1000;
    if (!(timeLimitMs > 0)) throw new VmLabError("bad-option", "--time-limit must be a positive number of seconds");
    if (driver !== undefined && driver !== "igb" && driver !== "igbsw") {
      throw new VmLabError("bad-option", "--driver must be igb or igbsw");
    }
    if (kernel !== undefined && kernel !== "6.12" && kernel !== "backports") {
      throw new VmLabError("bad-option", "--kernel must be 6.12 or backports");
    }
    const virtioVfs = values["virtio-vfs"] === undefined ? undefined : Number(values["virtio-vfs"]);
    if (virtioVfs !== undefined && !isNumberOfVirtioVfs(virtioVfs)) {
      throw new VmLabError("bad-option", `--virtio-vfs must be a number from 1 to ${maxVirtioVfs}`);
    }
    return {
      options: {
        boot: values.systemd ? "systemd" : "fast",
        udev: values.udev,
        driver,
        kernel,
        share,
        virtioVfs,
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

/** Returns a signal that aborts on Ctrl-C, so that the guest is disposed of. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      controller.abort();
    });
  }
  return controller.signal;
}

/**
 * describeStatus lists the built and missing parts of the lab.
 * `ready` when a guest can boot without building anything.
 */
async function describeStatus(): Promise<{ readonly ready: boolean; readonly lines: readonly string[] }> {
  const [lab, newest] = await Promise.all([findLab("6.12"), findLab("backports")]);
  const qemu = await hasQemu();
  const withVfs = await findQemuWithVirtioVfs();
  const [ofImage, ofModules] = [await imageKey(), await extraModulesKey()];
  const missing = (key: string, flags = ""): string =>
    `not built for this checkout (key ${key}); run: npm run vm -- build${isRoot() ? "" : " (as root)"}${flags}`;
  return {
    ready: qemu && lab !== undefined,
    lines: [
      `QEMU       ${qemu ? `with igb, ${await chooseAccelerator()}` : qemuAdvice}`,
      `cache      ${cacheDirectory()}`,
      `image      ${lab?.image.directory ?? missing(ofImage)}`,
      `modules    ${lab?.modules?.directory ?? missing(ofModules)}`,
      `newer QEMU ${withVfs ?? "for virtio VFs: not unpacked yet; the first guest with them does it"}`,
      `backports  ${newest?.image.directory ?? missing(ofImage, " --kernel backports")}`,
    ],
  };
}
