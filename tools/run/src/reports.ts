// SPDX-License-Identifier: Apache-2.0
/** sumReports adds up Jest's reports of all projects, including those that Nx restored from its cache. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** Numbers of tests. */
export interface Totals {
  readonly passed: number;
  /** Tests that failed, plus test files that could not be run. */
  readonly failed: number;
  readonly skipped: number;
  /** Full names of the skipped tests. */
  readonly skippedNames: readonly string[];
  /** A line for each failure: the file, the test, and how its message begins. */
  readonly failures: readonly string[];
}

/** The part of a failure's message that its line has, in characters. */
const messageLimit = 400;

/** The part of Jest's JSON that is used. */
interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  /** Path of the test file. */
  readonly name: string;
  readonly status: string;
  /** Why the file could not be run, if so. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[] | null;
  }[];
}

/** Reads all reports in `directory`. Throws TypeError if a file is not a report of Jest. */
export function sumReports(directory: string): Totals {
  const totals = { passed: 0, failed: 0, skipped: 0, skippedNames: new Array<string>(), failures: new Array<string>() };
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(".json")) continue;
    const report: unknown = JSON.parse(readFileSync(join(directory, name), "utf8"));
    if (!isJestReport(report)) throw new TypeError(`${join(directory, name)} is not a report of Jest`);
    totals.passed += report.numPassedTests;
    totals.failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
    totals.skipped += report.numPendingTests + report.numTodoTests;
    for (const file of report.testResults) {
      totals.failures.push(...failuresOf(file));
      for (const { fullName, status } of file.assertionResults) {
        if (status === "pending" || status === "todo") totals.skippedNames.push(fullName);
      }
    }
  }
  return totals;
}

/** The last line of `npm test`: "12 passed, 0 failed, 1 skipped". */
export function closingLine(totals: Totals): string {
  return `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`;
}

/** What `npm test` and `npm run e2e` print at the end: a line for each skipped and each failed test, and the closing line. */
export function closingReport(totals: Totals): string {
  return [
    ...totals.skippedNames.map((name) => `SKIPPED: ${name}`),
    ...totals.failures.map((failure) => `FAILED: ${failure}`),
    closingLine(totals),
  ].join("\n");
}

function failuresOf({ name, status, message, assertionResults }: FileResult): readonly string[] {
  const tests = assertionResults.filter((test) => test.status === "failed");
  const failures = tests.map(({ fullName, failureMessages }) => ({ fullName, message: failureMessages?.[0] ?? "" }));
  if (failures.length === 0 && status === "failed") failures.push({ fullName: "could not be run", message });
  return failures.map((failure) => {
    const oneLine = stripVTControlCharacters(failure.message).replaceAll(/\s+/g, " ").trim();
    return `${basename(name)}: ${failure.fullName}: ${oneLine.slice(0, messageLimit)}`;
  });
}

function isJestReport(value: unknown): value is JestReport {
  return typeof value === "object" && value !== null && "numPassedTests" in value && "testResults" in value;
}
