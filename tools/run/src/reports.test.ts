// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, sumReports } from "./reports.ts";

function withReports(reports: Readonly<Record<string, unknown>>, run: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "reports-"));
  try {
    for (const [name, report] of Object.entries(reports)) writeFileSync(join(directory, name), JSON.stringify(report));
    run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function report(numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number, skipped: string[]) {
  const assertionResults = skipped.map((fullName) => ({ fullName, status: "pending" }));
  const numPendingTests = skipped.length;
  const testResults = [{ assertionResults }];
  return { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests, numTodoTests: 0, testResults };
}

describe("sumReports", () => {
  it("adds the reports up, counts a file that could not run as a failure, and names what was skipped", () => {
    withReports({ "a.json": report(3, 1, 0, ["a skips"]), "b.json": report(2, 0, 1, []) }, (directory) => {
      const totals = sumReports(directory);
      expect(closingLine(totals)).toBe("5 passed, 2 failed, 1 skipped");
      expect(totals.skippedNames).toEqual(["a skips"]);
    });
  });

  it("refuses a file that is not a report", () => {
    withReports({ "a.json": {} }, (directory) => {
      expect(() => sumReports(directory)).toThrow("is not a report of Jest");
    });
  });
});
