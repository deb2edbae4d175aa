// SPDX-License-Identifier: Apache-2.0
/**
 * What a command has to say beside its result: one line each, on stderr.
 * Usage: `diagnostics.report("SriovNetworkNodePolicy/ns/a: spec.numVfs: …"); return diagnostics.exitCode()`.
 */
import { exitCodes } from "./exit-codes.ts";
import type { Output } from "./terminal.ts";

export interface Diagnostics {
  /** Something is wrong: the exit code will say so. */
  report(line: string): void;
  /** Something is worth knowing. */
  note(line: string): void;
  exitCode(): 0 | 1;
}

export function createDiagnostics(stderr: Output): Diagnostics {
  let hasProblem = false;
  return {
    report(line) {
      hasProblem = true;
      stderr.write(`${inOneLine(line)}\n`);
    },
    note(line) {
      stderr.write(`${inOneLine(line)}\n`);
    },
    exitCode: () => (hasProblem ? exitCodes.no : exitCodes.done),
  };
}

/** Users' texts may have line breaks and control characters, which a terminal would obey. */
function inOneLine(line: string): string {
  return line.replace(/\s*\n\s*/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
