// SPDX-License-Identifier: Apache-2.0
/**
 * A program of ours under an integration test. An end that nobody asked for fails the test in which it happens, with its last
 * words: else all that shows of a crash is that nothing gets done. And its log stays when the test is over.
 * Usage: `operator = spawnKept([main, ...flags], { log, name: "networks-operator" }); afterEach(() => operator.mustBeAlive());`
 */
import { findWorkspaceRoot, spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface KeptProcess extends GuardedProcess {
  /** Rejects with the end of its log if it ended by itself, before signal("TERM") and kill(). */
  mustBeAlive(): Promise<void>;
}

export interface KeptProcessOptions {
  /** The file that its output is appended to. */
  readonly log: string;
  /** The log's name among the reports, where it is as of the last kill(). */
  readonly name: string;
}

/** Runs Node with these arguments. */
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
