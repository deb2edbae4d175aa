// SPDX-License-Identifier: Apache-2.0
/**
 * Sums the reports that Jest left, so that tests count whether they ran or Nx had their result.
 * Usage: `const { passed, failed, skipped } = sumReports(directory);`
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Totals {
  readonly passed: number;
  /** Tests that failed, and files that could not be run at all. */
  readonly failed: number;
  readonly skipped: number;
  /** Full names of skipped tests, so that none is skipped silently. */
  readonly skippedNames: readonly string[];
}

/** The part of Jest's JSON that is used. */
interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Throws where a file is no report of Jest's. */
export function sumReports(directory: string): Totals {
  const totals = { passed: 0, failed: 0, skipped: 0, skippedNames: new Array<string>() };
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(".json")) continue;
    const report: unknown = JSON.parse(readFileSync(join(directory, name), "utf8"));
    if (!isJestReport(report)) throw new TypeError(`${join(directory, name)} is no report of Jest's`);
    totals.passed += report.numPassedTests;
    totals.failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
    totals.skipped += report.numPendingTests + report.numTodoTests;
    for (const { assertionResults } of report.testResults) {
      for (const { fullName, status } of assertionResults) {
        if (status === "pending" || status === "todo") totals.skippedNames.push(fullName);
      }
    }
  }
  return totals;
}

/** "12 passed, 0 failed, 1 skipped". */
export function closingLine(totals: Totals): string {
  return `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`;
}

function isJestReport(value: unknown): value is JestReport {
  return typeof value === "object" && value !== null && "numPassedTests" in value && "testResults" in value;
}
