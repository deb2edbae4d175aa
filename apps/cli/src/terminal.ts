// SPDX-License-Identifier: Apache-2.0
/** What a command reads and writes, and how it ends. */
import { printable } from "./text.ts";

/** exitCodes are the exit codes of the process. */
export const exitCodes = {
  done: 0,
  /** An object was rejected, a policy cannot be applied, or a file cannot be read. */
  no: 1,
  /** A plan has steps, with --detailed-exitcode. */
  changes: 2,
  usage: 64,
} as const;

/** The standard input, output and environment of a command. `process` is one; tests use their own. */
export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width of a TTY. */
  readonly columns?: number | undefined;
}

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** usage: the command line is invalid. unavailable: something that it names does not exist or cannot be read. */
type CliErrorCode = "usage" | "unavailable";

/** Ends a command with one line on stderr. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Diagnostics are the messages of a command beside its result, one line each on stderr. */
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

/** How a result is written as text. */
export interface TextStyle {
  /** Columns for text that is broken into lines. */
  readonly width: number;
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
  bold(text: string): string;
}

/** Colours are used if the output is a terminal and NO_COLOR is not set (https://no-color.org). */
export function textStyleOf(output: Output, env: Terminal["env"]): TextStyle {
  const isOn = output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint =
    (start: number, end: number) =>
    (text: string): string =>
      isOn ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return {
    width: widthOf(output),
    green: paint(32, 39),
    yellow: paint(33, 39),
    red: paint(31, 39),
    bold: paint(1, 22),
  };
}

/**
 * The number of columns for text that is broken into lines: those of the terminal, within limits in which sentences can be read, and
 * 80 for pipes and files.
 */
function widthOf({ isTTY, columns }: Output): number {
  return isTTY === true && columns !== undefined && columns > 0 ? Math.min(Math.max(columns, 60), 120) : 80;
}
