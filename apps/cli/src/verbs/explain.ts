// SPDX-License-Identifier: Apache-2.0
/** `switchyard explain KIND[.FIELD]` prints the documentation in the CRDs, and `explain NAME` that of a reason, finding or metric. */
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { explainField } from "../output/explain-field.ts";
import { explainedNames, explainName } from "../output/explain-name.ts";
import { nearest } from "../diagnosis/nearest.ts";
import type { RunVerb } from "../verb.ts";

export const explain: RunVerb = async ({ operands, terminal }) => {
  const [path, extra] = operands;
  if (path === undefined || extra !== undefined) {
    throw new CliError(
      "usage",
      "explain requires one argument, KIND[.FIELD] or NAME, such as SriovNetworkNodePolicy.spec.numVfs or StepFailed",
    );
  }
  const meaning = explainName(path);
  if (meaning !== undefined) {
    terminal.stdout.write(meaning);
    return Promise.resolve(exitCodes.done);
  }
  const explained = explainField(path);
  if (!explained.ok) {
    const like = nearest(path, explainedNames());
    throw new CliError("usage", `${explained.error}${like === undefined ? "" : `; did you mean ${like}?`}`);
  }
  terminal.stdout.write(explained.value);
  return Promise.resolve(exitCodes.done);
};
