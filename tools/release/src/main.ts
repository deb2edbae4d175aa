// SPDX-License-Identifier: Apache-2.0
/** The process of `npm run release -- VERB`: the steps of a release, which workflows and people run alike. */
import { ImagesError } from "@switchyard/images";
import { findWorkspaceRoot, TestingError } from "@switchyard/testing";
import { helpText, parseCommandLine } from "./command-line.ts";
import { ReleaseError } from "./release-error.ts";
import { verbs } from "./verbs.ts";

try {
  const command = parseCommandLine(verbs, process.argv.slice(2));
  if (command === undefined) process.stdout.write(helpText(verbs));
  else {
    const { verb, operands, flags } = command;
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    await verb.run({ root: findWorkspaceRoot(), operands, flags, env: process.env, print });
  }
} catch (error) {
  const isExpected = [ReleaseError, ImagesError, TestingError].some((kind) => error instanceof kind);
  if (!isExpected || !(error instanceof Error)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = error instanceof ReleaseError && error.code === "usage" ? 64 : 1;
}
