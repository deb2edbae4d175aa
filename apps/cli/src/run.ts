// SPDX-License-Identifier: Apache-2.0
/** run executes one command line and returns its exit code. */
import { nearestName } from "@switchyard/policy";
import { CliError, exitCodes, type ExitCode, type Terminal } from "./terminal.ts";
import { parseFlags } from "./flags.ts";
import { helpOf, overview, type Verb } from "./verb.ts";
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

async function dispatch([first, ...rest]: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (first === undefined) {
    terminal.stderr.write(overview(verbs));
    return exitCodes.usage;
  }
  if (first === "--help" || first === "-h" || first === "help") {
    const [name] = rest;
    terminal.stdout.write(name === undefined ? overview(verbs) : helpOf(verbNamed(name)));
    return exitCodes.done;
  }
  const verb = verbNamed(first === "--version" ? "version" : first);
  const { flags, operands } = parseFlags(rest, [...verb.flags, "help"]);
  if (flags.help) {
    terminal.stdout.write(helpOf(verb));
    return exitCodes.done;
  }
  if (verb.operands === undefined && operands[0] !== undefined) {
    const hint = verb.flags.includes("filename") ? "; use -f to give objects" : "";
    throw new CliError("usage", `unexpected argument "${operands[0]}" of ${verb.name}${hint}`);
  }
  const runVerb = await verb.load();
  return runVerb({ flags, operands, terminal, verbs });
}

function verbNamed(name: string): Verb {
  const verb = verbs.find((candidate) => candidate.name === name);
  if (verb === undefined) {
    const names = verbs.map((known) => known.name);
    const alike = nearestName(name, names);
    const hint = alike === undefined ? `verbs are ${names.join(", ")}` : `did you mean ${alike}?`;
    throw new CliError("usage", `unknown verb "${name}"; ${hint}`);
  }
  return verb;
}
