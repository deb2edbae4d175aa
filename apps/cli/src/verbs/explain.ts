// SPDX-License-Identifier: Apache-2.0
/** `switchyard explain KIND[.FIELD]` prints the documentation in the CRDs. */
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { explainField } from "../output/explain-field.ts";
import type { RunVerb } from "../verb.ts";

export const explain: RunVerb = async ({ operands, terminal }) => {
  const [path, extra] = operands;
  if (path === undefined || extra !== undefined) {
    throw new CliError(
      "usage",
      "explain requires one argument KIND[.FIELD], such as SriovNetworkNodePolicy.spec.numVfs",
    );
  }
  const explained = explainField(path);
  if (!explained.ok) throw new CliError("usage", explained.error);
  terminal.stdout.write(explained.value);
  return Promise.resolve(exitCodes.done);
};
