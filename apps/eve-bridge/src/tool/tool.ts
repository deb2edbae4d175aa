// SPDX-License-Identifier: Apache-2.0
/** runTool runs the commands for people: `doctor`, `renew`, `install`, `--version` and `--help`. */
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { describe } from "../request/cni-error.ts";
import { supportedVersions } from "../request/request.ts";

const about = `CNI plugin eve-bridge v${manifest.version}`;
const protocols = `CNI protocol versions supported: ${supportedVersions.join(", ")}`;

const help = `${about}
${protocols}

  eve-bridge doctor [-o text|json]
      Check whether pods can be connected on this node, and stay connected. The exit status is 1 if they cannot.
  eve-bridge renew
      After a restart of the DHCP daemon: make it renew the leases of connected pods. The exit status is 1 if it cannot renew one.
  eve-bridge install --to DIR [--to DIR]... [--grace-seconds N] [--stay]
      Install this version into one or more CNI directories.
      The previous version is removed N seconds later (default 10, maximum 9999).
      With --stay it does not exit after a success until it is terminated, as the container of a DaemonSet must.
  eve-bridge --version | --help

A container runtime runs eve-bridge as a CNI plugin, with CNI_COMMAND set. Documentation: docs/eve-bridge.md.
`;

/** sysexits.h: EX_USAGE. */
const wrongUsage = 64;

/** Runs one command and returns its exit status: 0, 1 for a failure, 64 for wrong usage. */
export async function runTool(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  switch (verb) {
    case undefined:
      // The stock CNI plugins print the same when they are started without CNI_COMMAND.
      process.stderr.write(`${about}\n${protocols}\n`);
      return 0;
    case "--version":
      process.stdout.write(`eve-bridge ${manifest.version}\n`);
      return 0;
    case "--help":
    case "help":
      process.stdout.write(help);
      return 0;
    case "doctor":
      return withUsage(() => parseDoctorArgs(rest), doctor);
    case "renew":
      return withUsage(() => parseNoArgs(rest), renew);
    case "install":
      return withUsage(() => parseInstallArgs(rest), installAll);
    default:
      return usageError(`unknown command "${verb}"`);
  }
}

async function doctor(format: string): Promise<number> {
  const { formatReport, runDoctor } = await import("./doctor.ts");
  const report = await runDoctor({ env: process.env });
  process.stdout.write(format === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : formatReport(report));
  return report.healthy ? 0 : 1;
}

async function renew(): Promise<number> {
  const { renewLeases } = await import("./renew.ts");
  try {
    const renewed = await renewLeases({ env: process.env });
    for (const { containerId, ifName, error } of renewed) {
      const name = `${containerId} ${ifName}`;
      process.stdout.write(error === undefined ? `renewed ${name}\n` : `failed ${name}: ${error}\n`);
    }
    if (renewed.length === 0) process.stdout.write("the DHCP daemon renews all leases\n");
    return renewed.some(({ error }) => error !== undefined) ? 1 : 0;
  } catch (error) {
    process.stderr.write(`eve-bridge renew: ${describe(error)}\n`);
    return 1;
  }
}

function parseNoArgs(args: readonly string[]): object {
  return parseArgs({ args: [...args], options: {} }).values;
}

interface InstallArgs {
  readonly dirs: readonly string[];
  readonly graceMs: number;
  readonly stays: boolean;
}

async function installAll({ dirs, graceMs, stays }: InstallArgs): Promise<number> {
  const { install, runningProgram } = await import("./install.ts");
  try {
    const source = runningProgram(manifest.version);
    // In parallel, so that the grace period is waited for once.
    const installed = await Promise.all(dirs.map((dir) => install({ dir, source, graceMs })));
    for (const { id, launcher, removed } of installed) {
      const old = removed.length === 0 ? "" : `, removed ${removed.join(" ")}`;
      process.stdout.write(`installed ${id} as ${launcher}${old}\n`);
    }
    if (stays) await untilTerminated();
    return 0;
  } catch (error) {
    process.stderr.write(`eve-bridge install: ${describe(error)}\n`);
    return 1;
  }
}

/** The timer keeps the process alive: a listener for a signal does not. */
function untilTerminated(): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, 2 ** 31 - 1);
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        clearInterval(alive);
        resolve();
      });
    }
  });
}

function parseDoctorArgs(args: readonly string[]): string {
  const { output } = parseArgs({
    args: [...args],
    options: { output: { type: "string", short: "o", default: "text" } },
  }).values;
  if (output !== "text" && output !== "json") throw new Error(`-o must be text or json, not "${output}"`);
  return output;
}

function parseInstallArgs(args: readonly string[]): InstallArgs {
  const {
    to,
    "grace-seconds": grace,
    stay: stays,
  } = parseArgs({
    args: [...args],
    options: {
      to: { type: "string", multiple: true },
      "grace-seconds": { type: "string", default: "10" },
      stay: { type: "boolean", default: false },
    },
  }).values;
  if (to === undefined) throw new Error("--to is required");
  if (!/^\d{1,4}$/.test(grace)) {
    throw new Error(`--grace-seconds must be a whole number from 0 to 9999, not "${grace}"`);
  }
  return { dirs: to, graceMs: Number(grace) * 1000, stays };
}

async function withUsage<T>(parse: () => T, run: (parsed: T) => Promise<number>): Promise<number> {
  let parsed: T;
  try {
    parsed = parse();
  } catch (error) {
    return usageError(describe(error));
  }
  return run(parsed);
}

function usageError(what: string): number {
  process.stderr.write(`eve-bridge: ${what}; see eve-bridge --help\n`);
  return wrongUsage;
}
