// SPDX-License-Identifier: Apache-2.0
/**
 * Prometheus' own parsers as a judge of rule files and expressions (integration/promql): a Go program, half a minute to
 * build the first time, a second from Go's cache.
 * Usage: `const { problems, metrics } = await judgePromql({ ruleFiles: [path], expressions: ["rate(a[5m])"] })`.
 */
import { isRecord } from "@switchyard/kube";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { runProgram } from "./run-program.ts";

export interface PromqlVerdict {
  /** In Prometheus' words; empty where all is well-formed. */
  readonly problems: readonly string[];
  /** Names of the metrics that are asked for, those of the rule files too. */
  readonly metrics: readonly string[];
}

const sources = join(__dirname, "../integration/promql");

export async function judgePromql(given: {
  readonly ruleFiles: readonly string[];
  readonly expressions: readonly string[];
}): Promise<PromqlVerdict> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-promql-"));
  try {
    const judge = join(directory, "judge");
    const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
    await promisify(execFile)("go", ["build", "-C", sources, "-o", judge, "."], { env });
    const input = JSON.stringify(given.expressions);
    const { stdout, stderr } = await runProgram(judge, given.ruleFiles, { input });
    const verdict: unknown = stdout === "" ? undefined : JSON.parse(stdout);
    if (!isVerdict(verdict)) throw new Error(`the judge has no verdict: ${stderr}`);
    return verdict;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function isVerdict(value: unknown): value is PromqlVerdict {
  return isRecord(value) && isTexts(value["problems"]) && isTexts(value["metrics"]);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
