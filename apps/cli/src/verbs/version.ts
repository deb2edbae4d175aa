// SPDX-License-Identifier: Apache-2.0
/** `switchyard version`. */
import { exitCodes } from "../exit-codes.ts";
import { printData } from "../output/print-data.ts";
import type { RunVerb } from "../verb.ts";

const versionOfAll = "0.1.0";

export const version: RunVerb = async ({ flags: { output = "text" }, terminal }) => {
  if (output === "text") terminal.stdout.write(`switchyard ${versionOfAll}\n`);
  else printData({ version: versionOfAll, node: process.version }, output, terminal.stdout);
  return Promise.resolve(exitCodes.done);
};
