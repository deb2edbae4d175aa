// SPDX-License-Identifier: Apache-2.0
/**
 * One command from its words to its exit code.
 * Usage: `process.exitCode = await run(process.argv.slice(2), process)`.
 */
import { CliError } from "./cli-error.ts";
import { exitCodes, type ExitCode } from "./exit-codes.ts";
import { parseFlags } from "./flags.ts";
import { helpOf, overview } from "./help.ts";
import type { Terminal } from "./terminal.ts";
import type { Verb } from "./verb.ts";
import { verbs } from "./verbs.ts";

export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    terminal.stderr.write(`switchyard: ${error.message}\n`);
    return error.code === "usage" ? exitCodes.usage : exitCodes.no;
  }
}

async function dispatch([word, ...rest]: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (word === undefined) {
    terminal.stderr.write(overview(verbs));
    return exitCodes.usage;
  }
  if (word === "--help" || word === "-h" || word === "help") {
    const [name] = rest;
    terminal.stdout.write(name === undefined ? overview(verbs) : helpOf(verbNamed(name)));
    return exitCodes.done;
  }
  const verb = verbNamed(word === "--version" ? "version" : word);
  const { flags, operands } = parseFlags(rest, [...verb.flags, "help"]);
  if (flags.help) {
    terminal.stdout.write(helpOf(verb));
    return exitCodes.done;
  }
  if (verb.operands === undefined && operands[0] !== undefined) {
    throw new CliError("usage", `${verb.name} takes no "${operands[0]}"; objects are given by -f`);
  }
  const runVerb = await verb.load();
  return runVerb({ flags, operands, terminal });
}

function verbNamed(name: string): Verb {
  const verb = verbs.find((candidate) => candidate.name === name);
  if (verb === undefined) {
    throw new CliError("usage", `unknown verb "${name}"; one of: ${verbs.map((known) => known.name).join(", ")}`);
  }
  return verb;
}
