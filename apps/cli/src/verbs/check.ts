// SPDX-License-Identifier: Apache-2.0
/** `switchyard check` says whether Switchyard can be installed in a cluster. */
import { checkInstallation, type CheckResult } from "../installation/check-installation.ts";
import { printData } from "../output/to-yaml.ts";
import { createColours, createDiagnostics, exitCodes, type Colours } from "../terminal.ts";
import { printable, wrap } from "../text.ts";
import type { RunVerb } from "../verb.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

export const check: RunVerb = async ({ flags, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const { snapshot } = await readExaminedCluster(flags, terminal, diagnostics);
  const { output = "text" } = flags;
  const found = checkInstallation(snapshot);
  if (output === "text") terminal.stdout.write(checkText(found.checks, createColours(terminal.stdout, terminal.env)));
  else printData(found, output, terminal.stdout);
  return found.checks.some(({ result }) => result === "stop") ? exitCodes.no : diagnostics.exitCode();
};

const width = 80;
const indent = " ".repeat(9);

function checkText(checks: readonly CheckResult[], colours: Colours): string {
  const coloured = (word: string, result: CheckResult["result"]) =>
    ({
      ok: colours.green(word),
      stop: colours.red(word),
      note: colours.yellow(word),
      unknown: colours.bold(word),
    })[result];
  const lines = checks.flatMap(({ result, about, text }) => {
    const [first = "", ...more] = wrap(printable(`${about}: ${text}`), width - indent.length);
    return [`${coloured(result.padEnd(7), result)}  ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
  const stops = checks.filter(({ result }) => result === "stop").length;
  const summary =
    stops === 0
      ? colours.green("Nothing stands in the way of an installation.")
      : colours.red(stops === 1 ? "1 thing stands in the way." : `${stops} things stand in the way.`);
  return `${[...lines, "", summary].join("\n")}\n`;
}
