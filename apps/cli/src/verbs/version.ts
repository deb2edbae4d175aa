// SPDX-License-Identifier: Apache-2.0
/** `switchyard version` prints the version of Switchyard, and as data also the version of Node. */
import { productVersion } from "@switchyard/service/version";
import { exitCodes } from "../terminal.ts";
import { printData } from "../output/to-yaml.ts";
import type { RunVerb } from "../verb.ts";

export const version: RunVerb = async ({ flags: { output = "text" }, terminal }) => {
  if (output === "text") terminal.stdout.write(`switchyard ${productVersion}\n`);
  else printData({ version: productVersion, node: process.version }, output, terminal.stdout);
  return Promise.resolve(exitCodes.done);
};
