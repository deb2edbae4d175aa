// SPDX-License-Identifier: Apache-2.0
/**
 * runCommand runs a command, which does one job and ends, from its command line to its exit code: 0 for success, 1 for a
 * failure and 64 for invalid arguments.
 * Usage: `process.exit(await runCommand({ name: "operator crds apply", summary, flags, main }, args))`.
 */
import { exitUsage } from "./flags/exit-usage.ts";
import { parseFlags, type Environment, type FlagsOf } from "./flags/flags.ts";
import { renderHelp } from "./flags/help.ts";
import { productVersion } from "./version.gen.ts";

/** Description of a command. */
export interface Command<Values extends object> {
  /** The words with which users start it: "operator crds apply". */
  readonly name: string;
  /** Purpose for --help: one or two sentences. */
  readonly summary: string;
  readonly flags: FlagsOf<Values>;
  /** Resolves with the exit code. When `signal` aborts, it must start no new work and return or reject. */
  readonly main: (context: CommandContext<Values>) => Promise<number>;
}

/** Arguments of `main`. */
export interface CommandContext<Values extends object> {
  readonly flags: Values;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
  /** Prints a line about a problem. */
  readonly fail: (line: string) => void;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

/** `args` are the arguments after the name. Never rejects: an error is printed, with its stack if it is a bug. */
export async function runCommand<Values extends object>(
  command: Command<Values>,
  args: readonly string[],
  env: Environment = process.env,
): Promise<number> {
  const { name, summary, flags } = command;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const fail = (line: string): void => void process.stderr.write(`${line}\n`);
  const parsed = parseFlags(flags, args, env);
  if (parsed.kind === "invalid") {
    fail(`${name}: ${parsed.problem.message}`);
    return exitUsage;
  }
  if (parsed.kind !== "run") {
    print(parsed.kind === "help" ? renderHelp({ name, summary, flags }).trimEnd() : `${name} ${productVersion}`);
    return 0;
  }
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    stop.abort(new Error(`stopped by ${signal}`));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, onSignal);
  // Signal handlers and promises do not keep a process alive.
  const alive = setInterval(() => undefined, 3_600_000);
  try {
    return await command.main({ flags: parsed.values, print, fail, signal: stop.signal });
  } catch (error) {
    fail(`${name}: ${describe(error, stop.signal)}`);
    return 1;
  } finally {
    clearInterval(alive);
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, onSignal);
  }
}

/** Errors with a code are expected: they say what was tried and what the answer was. Others are bugs. */
function describe(error: unknown, signal: AbortSignal): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error || error === signal.reason ? error.message : (error.stack ?? error.message);
}
