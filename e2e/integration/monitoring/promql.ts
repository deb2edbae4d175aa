// SPDX-License-Identifier: Apache-2.0
/**
 * Prometheus' own parsers as a judge of rule files and expressions: the Go program integration/promql.
 * Usage: `const { problems, metrics } = await judgePromql({ ruleFiles: [path], expressions: ["rate(a[5m])"] })`.
 */
import { isRecord } from "@switchyard/kube";
import { join } from "node:path";
import { buildGoPrograms } from "../../src/go-programs.ts";
import { runProgram } from "../../src/run-program.ts";

export interface PromqlVerdict {
  /** In Prometheus' words; empty where all is well-formed. */
  readonly problems: readonly string[];
  /** Names of the metrics that are asked for, those of the rule files too. */
  readonly metrics: readonly string[];
}

const sources = join(__dirname, "../promql");

export async function judgePromql(given: {
  readonly ruleFiles: readonly string[];
  readonly expressions: readonly string[];
}): Promise<PromqlVerdict> {
  const programs = await buildGoPrograms({ sources, cacheName: "promql", title: "Prometheus' parsers" });
  const input = JSON.stringify(given.expressions);
  const { stdout, stderr } = await runProgram(join(programs, "promql"), given.ruleFiles, { input });
  const verdict: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  if (!isVerdict(verdict)) throw new Error(`the judge has no verdict: ${stderr}`);
  return verdict;
}

function isVerdict(value: unknown): value is PromqlVerdict {
  return isRecord(value) && isTexts(value["problems"]) && isTexts(value["metrics"]);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
