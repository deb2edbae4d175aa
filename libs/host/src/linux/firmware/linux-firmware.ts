// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxFirmware implements Firmware with the programs mstconfig, mstfwreset and mstprivhost of the package mstflint. They run in the
 * container of the daemon: its image has them, and they need nothing from the root directory of the host.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { defined } from "@switchyard/api";
import { isErrno } from "@switchyard/service";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import { firmwareSettingNames, type Firmware, type LockdownMode } from "../../ports/firmware.ts";
import { parseMstconfigQuery } from "./mstconfig-output.ts";
import { parsePrivilege, pathForMstprivhost } from "./mstprivhost.ts";
import { runProgram, type ProgramEnd } from "../system/run-program.ts";

export interface LinuxFirmwareDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** Directories of the programs, as in PATH; those of the system by default. */
  readonly programPath?: string;
  /** Time limit of mstconfig and mstprivhost; 30 s by default. */
  readonly configTimeoutMs?: number;
  /** Time limit of mstfwreset; 5 minutes by default. */
  readonly resetTimeoutMs?: number;
}

export function createLinuxFirmware({
  root,
  programPath,
  configTimeoutMs = 30_000,
  resetTimeoutMs = 300_000,
}: LinuxFirmwareDeps): Firmware {
  const { firmware: operation } = operations;
  const mstconfig = (args: readonly string[], at: HostOperation) =>
    run({ program: "mstconfig", args, programPath, timeoutMs: configTimeoutMs, at });

  return {
    readLockdown: () => withHostError(operation.readLockdown(), () => readLockdown(root)),
    async readSettings(pf) {
      const at = operation.readSettings(pf);
      const devices = parseMstconfigQuery(await mstconfig(["-e", "-d", pf, "q"], at));
      const [device] = devices;
      if (device === undefined || devices.length > 1 || device.settings.size === 0) {
        throw new HostError(at, "EBADMSG", { words: "mstconfig printed no table of the settings of this card" });
      }
      return device.settings;
    },
    async readPrivilege(pf) {
      const at = operation.readPrivilege(pf);
      const path = await withHostError(at, () => pathForMstprivhost(programPath));
      const program = { program: "mstprivhost", args: ["-d", pf, "q"], programPath: path };
      const privilege = parsePrivilege(await run({ ...program, timeoutMs: configTimeoutMs, at }));
      if (privilege === undefined) throw new HostError(at, "EBADMSG", { words: "mstprivhost printed no level" });
      return privilege;
    },
    async setValues(pf, values) {
      const at = operation.setValues(pf, values);
      const changes = firmwareSettingNames.flatMap((name) =>
        values[name] === undefined ? [] : [{ name, value: values[name] }],
      );
      if (changes.some(({ value }) => !Number.isInteger(value) || value < 0 || value > 65_535)) {
        throw new HostError(at, "EINVAL", {});
      }
      if (changes.length === 0) return;
      await mstconfig(["-d", pf, "-y", "set", ...changes.map(({ name, value }) => `${name}=${value}`)], at);
    },
    async resetCard(pf) {
      const args = ["-d", pf, "--skip_driver", "-l", "3", "-y", "reset"];
      await run({ program: "mstfwreset", args, programPath, timeoutMs: resetTimeoutMs, at: operation.resetCard(pf) });
    },
  };
}

/** The file shows the active mode in brackets: "none [integrity] confidentiality". */
async function readLockdown(root: string): Promise<LockdownMode | undefined> {
  try {
    const text = await fs.readFile(join(root, "sys/kernel/security/lockdown"), "utf8");
    const mode = /\[(\w+)\]/.exec(text)?.[1];
    return mode === "integrity" || mode === "confidentiality" ? mode : "none";
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly programPath: string | undefined;
  readonly timeoutMs: number;
  readonly at: HostOperation;
}

/** Resolves with the standard output. */
async function run({ program, args, programPath, timeoutMs, at }: Run): Promise<string> {
  const end = await runProgram([program, ...args], { timeoutMs, ...defined({ path: programPath }) }).catch(
    (error: unknown) => {
      if (!isErrno(error)) throw error;
      const isMissing = error.code === "ENOENT";
      const words = isMissing ? `${program} is not installed` : `${program}: ${error.code}`;
      throw new HostError(at, isMissing ? "ENOENT" : "FIRMWARE_TOOL_FAILED", { words, cause: error });
    },
  );
  if (end === undefined)
    throw new HostError(at, "ETIMEDOUT", { words: `${program} did not end within ${timeoutMs / 1000} s` });
  if (end.code !== 0) throw new HostError(at, "FIRMWARE_TOOL_FAILED", { words: wordsOf(program, end) });
  return end.stdout;
}

/** mstconfig writes its errors to the standard output, after "-E-". */
function wordsOf(program: string, { stdout, stderr }: ProgramEnd): string {
  const lines = `${stdout}\n${stderr}`.split(/\r?\n/).map((line) => line.trim());
  const said = lines.filter((line) => line.startsWith("-E-")).join(" ") || lines.findLast((line) => line !== "");
  return said === undefined ? `${program} failed` : `${program}: ${said.slice(0, 500)}`;
}
