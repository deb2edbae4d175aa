// SPDX-License-Identifier: Apache-2.0
/** `switchyard eve-bridge doctor` runs the doctor of eve-bridge. */
import { formatReport, runDoctor } from "@switchyard/eve-bridge";
import { CliError, exitCodes } from "../terminal.ts";
import { printData } from "../output/to-yaml.ts";
import type { RunVerb } from "../verb.ts";

export const eveBridge: RunVerb = async ({ flags: { output = "text" }, operands, terminal }) => {
  const [operand, ...more] = operands;
  if (operand !== "doctor" || more.length > 0) {
    throw new CliError("usage", 'eve-bridge requires one argument, "doctor": switchyard eve-bridge doctor');
  }
  const report = await runDoctor({ env: terminal.env });
  if (output === "text") terminal.stdout.write(formatReport(report));
  else printData(report, output, terminal.stdout);
  return report.healthy ? exitCodes.done : exitCodes.no;
};
