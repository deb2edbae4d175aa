// SPDX-License-Identifier: Apache-2.0
/** `switchyard check` says whether Switchyard can be installed in a cluster. */
import { checkInstallation, type CheckResult } from "../installation/check-installation.ts";
import { printData } from "../output/to-yaml.ts";
import { textStyleOf, createDiagnostics, exitCodes, type TextStyle } from "../terminal.ts";
import { printable, wrap } from "../text.ts";
import type { RunVerb } from "../verb.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

export const check: RunVerb = async ({ flags, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const { snapshot } = await readExaminedCluster(flags, terminal, diagnostics);
  const { output = "text" } = flags;
  const found = checkInstallation(snapshot);
  if (output === "text") terminal.stdout.write(checkText(found.checks, textStyleOf(terminal.stdout, terminal.env)));
  else printData(found, output, terminal.stdout);
  return found.checks.some(({ result }) => result === "stop") ? exitCodes.no : diagnostics.exitCode();
};

const indent = " ".repeat(9);

function checkText(checks: readonly CheckResult[], style: TextStyle): string {
  const coloured = (word: string, result: CheckResult["result"]) =>
    ({
      ok: style.green(word),
      stop: style.red(word),
      note: style.yellow(word),
      unknown: style.bold(word),
    })[result];
  const lines = checks.flatMap(({ result, about, text }) => {
    const [first = "", ...more] = wrap(printable(`${about}: ${text}`), style.width - indent.length);
    return [`${coloured(result.padEnd(7), result)}  ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
  const stops = checks.filter(({ result }) => result === "stop").length;
  const summary =
    stops === 0
      ? style.green("Nothing stands in the way of an installation.")
      : style.red(stops === 1 ? "1 thing stands in the way." : `${stops} things stand in the way.`);
  return `${[...lines, "", summary].join("\n")}\n`;
}
