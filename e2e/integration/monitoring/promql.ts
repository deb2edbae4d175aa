// SPDX-License-Identifier: Apache-2.0
/**
 * checkPromql checks rule files and expressions with Prometheus' own parsers. firingAlerts evaluates alerting rules with its
 * engine, and countValues queries. They run Go programs.
 */
import { isRecord } from "@switchyard/kube";
import { join } from "node:path";
import { buildGoPrograms } from "@switchyard/go-programs";
import { runProgram } from "@switchyard/testing";

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
  const programs = await buildPrograms();
  const input = JSON.stringify(given.expressions);
  const { stdout, stderr } = await runProgram(join(programs, "promql"), given.ruleFiles, { input });
  const result: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  if (!isPromqlResult(result)) throw new Error(`the promql program printed no result: ${stderr}`);
  return result;
}

/** What Prometheus has scraped. */
export interface Scenario {
  /** Between two scrapes, and between two evaluations of the rules. */
  readonly intervalMs: number;
  readonly untilMs: number;
  /** The values of each series in the notation of `promtool test rules`: "1x20 _x3 0 stale". */
  readonly series: Readonly<Record<string, string>>;
}

/** An alert that fired. */
export interface FiredAlert {
  readonly alert: string;
  /** Labels of the expression's result, without those that the rule adds. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fromMs: number;
  /** Absent if it still fires at the end. */
  readonly toMs?: number;
}

/** Returns the alerts of the file that fire at any time, in the order of the rules. Rejects if a rule cannot be evaluated. */
export async function firingAlerts(ruleFile: string, scenario: Scenario): Promise<readonly FiredAlert[]> {
  const programs = await buildPrograms();
  const input = JSON.stringify(scenario);
  const { stdout, stderr } = await runProgram(join(programs, "alerts"), [ruleFile], { input });
  const result: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  if (!Array.isArray(result) || !result.every(isFiredAlert)) {
    throw new Error(`the alerts program printed no result: ${stderr}`);
  }
  return result;
}

/** Returns for each query how many values it has at all intervals together. Rejects if one cannot be evaluated. */
export async function countValues(queries: readonly string[], scenario: Scenario): Promise<readonly number[]> {
  const programs = await buildPrograms();
  const input = JSON.stringify({ ...scenario, queries });
  const { stdout, stderr } = await runProgram(join(programs, "queries"), [], { input });
  const result: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  if (!Array.isArray(result) || !result.every((count) => typeof count === "number")) {
    throw new Error(`the queries program printed no result: ${stderr}`);
  }
  return result;
}

function buildPrograms(): Promise<string> {
  return buildGoPrograms({ sources, cacheName: "promql", title: "Prometheus' parsers and engine" });
}

function isFiredAlert(value: unknown): value is FiredAlert {
  return (
    isRecord(value) &&
    typeof value["alert"] === "string" &&
    isRecord(value["labels"]) &&
    Object.values(value["labels"]).every((label) => typeof label === "string") &&
    typeof value["fromMs"] === "number"
  );
}

function isPromqlResult(value: unknown): value is PromqlResult {
  return isRecord(value) && isTexts(value["problems"]) && isTexts(value["metrics"]);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
