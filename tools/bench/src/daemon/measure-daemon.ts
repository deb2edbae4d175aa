// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- daemon`: one node's daemon beside a real API server, on the fake kernel or in the VM lab.
 */
import { bootGuest } from "@switchyard/vm-lab";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../harness/bench-error.ts";
import { startBenchCluster, type BenchCluster } from "../harness/bench-cluster.ts";
import { describeGoal, missedGoals } from "../harness/goal.ts";
import { readMachine } from "../harness/machine-facts.ts";
import { startProgress, type Progress } from "../harness/progress.ts";
import { startRun, type Run } from "../harness/run-control.ts";
import { daemonGoals } from "./daemon-goals.ts";
import { daemonHelp, parseDaemonOptions, type DaemonOptions } from "./daemon-options.ts";
import { renderDaemonReport } from "./daemon-report.ts";
import type { DaemonReport } from "./daemon-results.ts";
import type { DaemonUnderTest } from "./daemon-under-test.ts";
import { createDaemonMeasures } from "./daemon-measures.ts";
import { findFreePort } from "./free-port.ts";
import { createGuestDaemon, guestHealthPort } from "./guest-daemon.ts";
import { playInGuest } from "./guest-scenario.ts";
import { createGuestShare } from "./guest-share.ts";
import { bestOf, measureKernel } from "./kernel-baseline.ts";
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
  const about = { bench: "daemon", date: new Date().toISOString(), machine: readMachine() } as const;
  using run = startRun();
  using progress = startProgress();
  const namespaces = [nodeUnderTest.namespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail: run.fail });
  const measured = await (options.vm ? measureInGuest : measureNatively)(options, { run, progress, cluster });
  const report = { ...about, versions: cluster.versions, ...measured };
  return { ...report, goals: daemonGoals(report) };
}

interface Stage {
  readonly run: Run;
  readonly progress: Progress;
  readonly cluster: BenchCluster;
}

/** The part of the report that depends on where the daemon runs. */
type Measured = Omit<DaemonReport, "bench" | "date" | "machine" | "versions" | "goals">;

async function measureNatively(options: DaemonOptions, { run, progress, cluster }: Stage): Promise<Measured> {
  await using daemon = await createNativeDaemon({ cluster, run, nics: nativeNics, cpuProf: options.cpuProf });
  const measures = createDaemonMeasures(daemon, { progress, signal: run.signal });
  const played = await playNatively(daemon, measures, options).catch(tellLastWords(daemon));
  const { peakMb } = await daemon.read();
  await daemon.stop();
  return { host: "fake kernel", ...played, peakMb, stopSeconds: daemon.stopSeconds };
}

async function measureInGuest(options: DaemonOptions, { run, progress, cluster }: Stage): Promise<Measured> {
  progress.at("booting a guest");
  await using share = await createGuestShare();
  const healthPort = await findFreePort();
  const hostForwards = [{ hostPort: healthPort, guestPort: guestHealthPort }];
  await using guest = await bootGuest({ udev: true, share: share.directory, hostForwards, signal: run.signal });
  const { cpuProf } = options;
  await using daemon = await createGuestDaemon({
    ...{ cluster, run, guest, healthPort },
    share: share.directory,
    cpuProf: cpuProf !== undefined,
  });
  const measures = createDaemonMeasures(daemon, { progress, signal: run.signal });
  progress.at("the kernel alone, before");
  const before = await measureKernel(guest, run.signal);
  const played = await playInGuest(daemon, measures, options).catch(tellLastWords(daemon));
  progress.at("the kernel alone, after");
  const after = await measureKernel(guest, run.signal).catch((error: unknown) => {
    // Emulation dies at times (QEMU 10.0: iotlb_to_section: Assertion failed); what was measured before stands.
    process.stderr.write(`the kernel alone was measured but once: ${String(error)}\n`);
    return before;
  });
  const kernelTimes = bestOf(before, after);
  if (cpuProf !== undefined) await cp(join(share.directory, "prof"), cpuProf, { recursive: true });
  return { host: "VM lab, igb", ...played, kernelTimes, stopSeconds: daemon.stopSeconds };
}

/** Why a daemon did not do what it was told stands in its log, which goes with the run. */
function tellLastWords(daemon: DaemonUnderTest) {
  return (error: unknown): never => {
    process.stderr.write(`The end of the daemon's log:\n${daemon.lastWords()}\n`);
    throw error;
  };
}
