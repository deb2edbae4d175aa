// SPDX-License-Identifier: Apache-2.0
/** `switchyard completion SHELL` prints a completion script that is made from the table of verbs. */
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { completionScripts } from "../output/completion-scripts.ts";
import type { RunVerb } from "../verb.ts";

export const completion: RunVerb = async ({ operands, terminal, verbs }) => {
  const [shell = "", extra] = operands;
  const script = completionScripts.get(shell);
  if (script === undefined || extra !== undefined) {
    throw new CliError("usage", `completion requires one argument, one of ${[...completionScripts.keys()].join(", ")}`);
  }
  terminal.stdout.write(script(verbs));
  return Promise.resolve(exitCodes.done);
};
