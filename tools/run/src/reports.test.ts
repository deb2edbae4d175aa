// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, closingReport, sumReports } from "./reports.ts";

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
  const assertionResults = [
    ...skipped.map((fullName) => ({ fullName, status: "pending", failureMessages: null })),
    ...Array.from({ length: numFailedTests }, () => {
      return {
        fullName: "one is two",
        status: "failed",
        failureMessages: ["\u001b[31mError:\u001b[39m\n\n  expected 2"],
      };
    }),
  ];
  const numPendingTests = skipped.length;
  const status = numFailedTests + numRuntimeErrorTestSuites > 0 ? "failed" : "passed";
  const testResults = [{ name: "/project/src/sum.test.ts", status, message: "SyntaxError: a", assertionResults }];
  return { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests, numTodoTests: 0, testResults };
}

describe("sumReports", () => {
  it("adds the reports up, counts a file that could not run as a failure, and names what was skipped or failed", () => {
    withReports({ "a.json": report(3, 1, 0, ["a skips"]), "b.json": report(2, 0, 1, []) }, (directory) => {
      const totals = sumReports(directory);
      expect(closingLine(totals)).toBe("5 passed, 2 failed, 1 skipped");
      expect(totals.skippedNames).toEqual(["a skips"]);
      expect(totals.failures).toEqual([
        "sum.test.ts: one is two: Error: expected 2",
        "sum.test.ts: could not be run: SyntaxError: a",
      ]);
      expect(closingReport(totals).split("\n")).toEqual([
        "SKIPPED: a skips",
        "FAILED: sum.test.ts: one is two: Error: expected 2",
        "FAILED: sum.test.ts: could not be run: SyntaxError: a",
        "5 passed, 2 failed, 1 skipped",
      ]);
    });
  });

  it("refuses a file that is not a report", () => {
    withReports({ "a.json": {} }, (directory) => {
      expect(() => sumReports(directory)).toThrow("is not a report of Jest");
    });
  });
});
