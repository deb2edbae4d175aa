// SPDX-License-Identifier: Apache-2.0
/**
 * Diagnostics are the messages of a command beside its result, one line each on stderr.
 * Usage: `diagnostics.report("SriovNetworkNodePolicy/ns/a: spec.numVfs: must be at least 1"); diagnostics.exitCode()`.
 */
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./output/printable.ts";
import type { Output } from "./terminal.ts";

export interface Diagnostics {
  /** Prints a problem, which makes the exit code 1. */
  report(line: string): void;
  /** Prints a note, which does not change the exit code. */
  note(line: string): void;
  exitCode(): 0 | 1;
}

export function createDiagnostics(stderr: Output): Diagnostics {
  let hasProblem = false;
  return {
    report(line) {
      hasProblem = true;
      stderr.write(`${printable(line)}\n`);
    },
    note(line) {
      stderr.write(`${printable(line)}\n`);
    },
    exitCode: () => (hasProblem ? exitCodes.no : exitCodes.done),
  };
}

/** For results whose problems another part of the command reports. */
export const silentDiagnostics: Diagnostics = {
  report: () => undefined,
  note: () => undefined,
  exitCode: () => exitCodes.done,
};
