// SPDX-License-Identifier: Apache-2.0
/**
 * The operator as it is shipped: its bundle, a process of its own, with its probes on.
 * Usage: `await buildOperator(); const operator = await startOperator({ kubeconfig, directory, fail, … })`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BenchError } from "../bench-error.ts";
import { until } from "../measure/until.ts";
import { startMeasured, type MeasuredProcess } from "../measure/measured-process.ts";
import { operatorNamespace } from "./fleet-objects.ts";

export interface OperatorProcess extends MeasuredProcess {
  /** Resolves once /readyz is 200; rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
}

export interface OperatorOptions {
  readonly kubeconfig: string;
  /** For its log, operator.log, which a restart goes on with. */
  readonly directory: string;
  readonly cpuProf: string | undefined;
  /** Told if it ends by itself. */
  readonly fail: (error: BenchError) => void;
}

/** Makes dist/apps/operator/main.js, if it is not fresh. */
export async function buildOperator(): Promise<void> {
  const root = findWorkspaceRoot();
  const nx = join(root, "node_modules/.bin/nx");
  await promisify(execFile)(nx, ["run", "@switchyard/operator:build"], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: "false" },
  });
}

export async function startOperator({
  kubeconfig,
  directory,
  cpuProf,
  fail,
}: OperatorOptions): Promise<OperatorProcess> {
  const log = join(directory, "operator.log");
  const before = await linesOf(log);
  const operator = await startMeasured({
    script: join(findWorkspaceRoot(), "dist/apps/operator/main.js"),
    args: ["--kubeconfig", kubeconfig, "--namespace", operatorNamespace, "--health-address", "127.0.0.1:0"],
    log,
    fail,
    ...(cpuProf === undefined ? {} : { nodeFlags: ["--cpu-prof", `--cpu-prof-dir=${cpuProf}`] }),
  });
  return {
    ...operator,
    async ready(signal) {
      const isReady = async () => {
        const port = healthPortIn((await linesOf(log)).slice(before.length));
        return port !== undefined && (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
      };
      await until("the operator's /readyz", isReady, { withinMs: 120_000, signal, everyMs: 50 });
    },
  };
}

/** Warnings and errors that operators wrote there; none are expected. */
export async function complaintsIn(directory: string): Promise<readonly string[]> {
  const lines = await linesOf(join(directory, "operator.log"));
  return lines.filter((line) => /"level":"(?:warn|error)"/.test(line) || !line.startsWith("{"));
}

async function linesOf(log: string): Promise<readonly string[]> {
  try {
    return (await readFile(log, "utf8")).split("\n").filter((line) => line !== "");
  } catch {
    return []; // not started yet
  }
}

/** The service tells the port that it was given. */
function healthPortIn(lines: readonly string[]): number | undefined {
  const [, port] = /"healthPort":(\d+)/.exec(lines.join("\n")) ?? [];
  return port === undefined ? undefined : Number(port);
}
