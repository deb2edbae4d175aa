// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs for people: `doctor`, `install`, `--version`, `--help`.
 * Usage: `process.exit(await runTool(process.argv.slice(2)))`.
 */
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { describe } from "../request/cni-error.ts";
import { supportedVersions } from "../request/cni-version.ts";

const about = `CNI plugin eve-bridge v${manifest.version}`;
const protocols = `CNI protocol versions supported: ${supportedVersions.join(", ")}`;

const help = `${about}
${protocols}

  eve-bridge doctor [-o text|json]
      Says what is missing on this node. Exit status 1 when pods cannot be connected.
  eve-bridge install --to DIR [--to DIR]... [--grace-seconds N]
      Puts this version into CNI directories; the version before it is removed N seconds (10) later.
  eve-bridge --version | --help

A container runtime calls it with CNI_COMMAND set. Documentation: docs/eve-bridge.md.
`;

/** sysexits.h: EX_USAGE. */
const wrongUsage = 64;

/** The exit status. */
export async function runTool(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  switch (verb) {
    case undefined:
      // What plugins do that are started by hand.
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
    case "install":
      return withUsage(() => parseInstallArgs(rest), installAll);
    default:
      return complain(`unknown command ${verb}`);
  }
}

async function doctor(format: string): Promise<number> {
  const { formatReport, runDoctor } = await import("./doctor.ts");
  const report = await runDoctor({ env: process.env });
  process.stdout.write(format === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : formatReport(report));
  return report.healthy ? 0 : 1;
}

async function installAll({ dirs, graceMs }: { dirs: readonly string[]; graceMs: number }): Promise<number> {
  const { install, runningProgram } = await import("./install.ts");
  try {
    const source = runningProgram(manifest.version);
    // Together: the old versions' time runs out for all directories at once.
    const installed = await Promise.all(dirs.map((dir) => install({ dir, source, graceMs })));
    for (const { id, launcher, removed } of installed) {
      const old = removed.length === 0 ? "" : `, removed ${removed.join(" ")}`;
      process.stdout.write(`${launcher} is now ${id}${old}\n`);
    }
    return 0;
  } catch (error) {
    process.stderr.write(`eve-bridge install: ${describe(error)}\n`);
    return 1;
  }
}

function parseDoctorArgs(args: readonly string[]): string {
  const { output } = parseArgs({
    args: [...args],
    options: { output: { type: "string", short: "o", default: "text" } },
  }).values;
  if (output !== "text" && output !== "json") throw new Error(`-o takes text or json, not ${output}`);
  return output;
}

function parseInstallArgs(args: readonly string[]): { dirs: readonly string[]; graceMs: number } {
  const { to, "grace-seconds": grace } = parseArgs({
    args: [...args],
    options: { to: { type: "string", multiple: true }, "grace-seconds": { type: "string", default: "10" } },
  }).values;
  if (to === undefined) throw new Error("--to is missing");
  if (!/^\d{1,4}$/.test(grace)) throw new Error(`--grace-seconds takes a number, not ${grace}`);
  return { dirs: to, graceMs: Number(grace) * 1000 };
}

async function withUsage<T>(parse: () => T, run: (parsed: T) => Promise<number>): Promise<number> {
  let parsed: T;
  try {
    parsed = parse();
  } catch (error) {
    return complain(describe(error));
  }
  return run(parsed);
}

function complain(what: string): number {
  process.stderr.write(`eve-bridge: ${what}; see eve-bridge --help\n`);
  return wrongUsage;
}
