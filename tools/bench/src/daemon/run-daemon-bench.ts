// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- daemon`: one node's daemon beside a real API server, on the fake kernel or in the VM lab.
 */
import { writeFile } from "node:fs/promises";
import { BenchError } from "../bench-error.ts";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import { describeGoal, missedGoals } from "../measure/goal.ts";
import { readMachine } from "../measure/machine-facts.ts";
import { startProgress } from "../measure/progress.ts";
import { startRun } from "../run-control.ts";
import { daemonGoals } from "./daemon-goals.ts";
import { daemonHelp, parseDaemonOptions, type DaemonOptions } from "./daemon-options.ts";
import { renderDaemonReport } from "./daemon-report.ts";
import type { DaemonReport } from "./daemon-results.ts";
import { createDaemonMeasures } from "./measure-daemon.ts";
import { createNativeDaemon } from "./native-daemon.ts";
import { nativeNics, playNatively } from "./native-scenario.ts";
import { nodeUnderTest } from "./node-under-test.ts";

/** Rejects with BenchError: `goals` when one is missed and --check was given, other codes when there are no figures. */
export async function runDaemonBench(args: readonly string[]): Promise<void> {
  const options = parseDaemonOptions(args);
  if (options === "help") {
    process.stdout.write(daemonHelp);
    return;
  }
  const report = await measureDaemon(options);
  process.stdout.write(renderDaemonReport(report));
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const missed = missedGoals(report.goals);
  if (options.check && missed.length > 0) {
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.map(describeGoal).join("\n")}`);
  }
}

async function measureDaemon(options: DaemonOptions): Promise<DaemonReport> {
  const machine = readMachine();
  const date = new Date().toISOString();
  using run = startRun();
  using progress = startProgress();
  const namespaces = [nodeUnderTest.namespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail: run.fail });
  const { cpuProf } = options;
  await using daemon = await createNativeDaemon({ cluster, run, nics: nativeNics, cpuProf });
  const measures = createDaemonMeasures(daemon, { progress, signal: run.signal });
  const played = await playNatively(daemon, measures, options);
  const { peakMb } = await daemon.read();
  await daemon.stop();
  const report = {
    bench: "daemon",
    host: "fake kernel",
    date,
    machine,
    versions: cluster.versions,
    ...played,
    peakMb,
    stopSeconds: daemon.stopSeconds,
  } as const;
  return { ...report, goals: daemonGoals(report) };
}
