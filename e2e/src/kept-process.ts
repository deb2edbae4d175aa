// SPDX-License-Identifier: Apache-2.0
/**
 * KeptProcess is a program under test. If it crashes, mustBeAlive fails the current test with the end of its log;
 * otherwise a crash would only show as a timeout. The log is copied to reports/logs at the end.
 */
import { findWorkspaceRoot, spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A process whose crash fails the test. */
export interface KeptProcess extends GuardedProcess {
  /** Rejects with the end of the log if the process ended before signal("TERM") or kill(). */
  mustBeAlive(): Promise<void>;
}

/** Where the output goes. */
export interface KeptProcessOptions {
  /** Path of the file to which the output is appended. */
  readonly log: string;
  /** Name of the copy of the log in reports/logs, which kill() writes. */
  readonly name: string;
}

/** Starts Node with these arguments. */
export function spawnKept(args: readonly string[], { log, name }: KeptProcessOptions): KeptProcess {
  const started = spawnGuarded(process.execPath, args, { log });
  let isToRun = true;
  return {
    ...started,
    signal(signalName) {
      if (signalName === "TERM") isToRun = false;
      started.signal(signalName);
    },
    async kill() {
      isToRun = false;
      await started.kill();
      const reports = join(findWorkspaceRoot(), "reports/logs");
      await mkdir(reports, { recursive: true });
      await copyFile(log, join(reports, `${name}.log`));
    },
    async mustBeAlive() {
      if (!isToRun || !started.hasExited()) return;
      const status = await started.exited;
      throw new Error(`${name} ended by itself with exit status ${status}:\n${await readEnd(log)}`);
    },
  };
}

const lines = 30;

async function readEnd(log: string): Promise<string> {
  return (await readFile(log, "utf8")).split("\n").slice(-lines).join("\n");
}
