// SPDX-License-Identifier: Apache-2.0
/** `switchyard completion SHELL`: a completion script, made from the table of verbs. */
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { completionScripts } from "../output/completion-scripts.ts";
import type { RunVerb } from "../verb.ts";
import { verbs } from "../verbs.ts";

export const completion: RunVerb = async ({ operands, terminal }) => {
  const [shell = "", extra] = operands;
  const script = completionScripts.get(shell);
  if (script === undefined || extra !== undefined) {
    throw new CliError("usage", `completion takes one of ${[...completionScripts.keys()].join(", ")}`);
  }
  terminal.stdout.write(script(verbs));
  return Promise.resolve(exitCodes.done);
};
