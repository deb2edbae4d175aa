// SPDX-License-Identifier: Apache-2.0
/** `npm run bench -- SCENARIO`: measures what Switchyard's programs cost, next to a baseline. */
import { TestingError } from "@switchyard/testing";
import { VmLabError } from "@switchyard/vm-lab";
import { BenchError } from "./harness/run.ts";
import { scenarios } from "./scenarios.ts";

const help = `npm run bench -- SCENARIO [options]

Measures what Switchyard's programs cost, next to a baseline in the same run.

${scenarios.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}\n`).join("")}
SCENARIO --help lists the options of a scenario. All have --quick, a small run that shows whether it works.
`;

/** EX_USAGE of sysexits.h. */
const exitUsage = 64;

const [name = "--help", ...args] = process.argv.slice(2);
const scenario = scenarios.find((one) => one.name === name);
if (scenario !== undefined) {
  try {
    await scenario.command(args);
  } catch (error) {
    const isExpected = error instanceof BenchError || error instanceof TestingError || error instanceof VmLabError;
    if (!isExpected) throw error;
    process.stderr.write(`bench ${name}: ${error.message}\n`);
    process.exitCode = error.code === "usage" ? exitUsage : 1;
  }
} else if (name === "--help" || name === "-h") {
  process.stdout.write(help);
} else {
  const names = scenarios.map((one) => one.name).join(", ");
  process.stderr.write(`bench: unknown scenario "${name}"; the scenarios are ${names}\n`);
  process.exitCode = exitUsage;
}
