// SPDX-License-Identifier: Apache-2.0
/**
 * checkPromql checks rule files and expressions with Prometheus' own parsers, in a Go program.
 * Usage: `const { problems, metrics } = await checkPromql({ ruleFiles: [path], expressions: ["rate(a[5m])"] })`
 */
import { isRecord } from "@switchyard/kube";
import { join } from "node:path";
import { buildGoPrograms } from "@switchyard/go-programs";
import { runProgram } from "../../src/run-program.ts";

/** The result of a check. */
export interface PromqlResult {
  /** Prometheus' error messages; empty if all is valid. */
  readonly problems: readonly string[];
  /** Names of the metrics in the expressions and rule files. */
  readonly metrics: readonly string[];
}

const sources = join(__dirname, "promql");

/** Checks rule files by path, and expressions. Rejects if the program cannot be built or prints no result. */
export async function checkPromql(given: {
  readonly ruleFiles: readonly string[];
  readonly expressions: readonly string[];
}): Promise<PromqlResult> {
  const programs = await buildGoPrograms({ sources, cacheName: "promql", title: "Prometheus' parsers" });
  const input = JSON.stringify(given.expressions);
  const { stdout, stderr } = await runProgram(join(programs, "promql"), given.ruleFiles, { input });
  const result: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  if (!isPromqlResult(result)) throw new Error(`the promql program printed no result: ${stderr}`);
  return result;
}

function isPromqlResult(value: unknown): value is PromqlResult {
  return isRecord(value) && isTexts(value["problems"]) && isTexts(value["metrics"]);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
