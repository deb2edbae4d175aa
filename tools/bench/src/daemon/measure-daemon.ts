// SPDX-License-Identifier: Apache-2.0
/**
 * measureDaemon measures the config daemon of one node with a real API server, on the fake kernel or in the VM lab.
 */
import { bootGuest, type Guest, type MachineOptions } from "@switchyard/vm-lab";
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { startBenchCluster, type BenchCluster } from "../harness/bench-cluster.ts";
import { readMachine } from "../harness/machine.ts";
import { startProgress, type Progress } from "../harness/progress.ts";
import { startRun, type Run } from "../harness/run-control.ts";
import { createDaemonMeasures } from "./daemon-measures.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { daemonGoals, type DaemonReport } from "./daemon-report.ts";
import { createGuestDaemon, createGuestShare, guestHealthPort, type GuestDaemonOptions } from "./guest-daemon.ts";
import { measureScript, ovsFlags, runGuestOvsScenario, startOpenVSwitch } from "./guest-ovs-scenario.ts";
import { runGuestScenario } from "./guest-scenario.ts";
import { firstSubfunction, measureDevlink, runGuestSubfunctionsScenario } from "./guest-subfunctions-scenario.ts";
import { bestOf, measureKernel, type KernelTimes } from "./kernel-baseline.ts";
import { createNativeDaemon } from "./native-daemon.ts";
import { nativeNics, runNativeScenario } from "./native-scenario.ts";
import { nodeUnderTest, type DaemonUnderTest } from "./node-under-test.ts";

/** Rejects with BenchError if the measurement fails. */
export async function measureDaemon(options: DaemonOptions): Promise<DaemonReport> {
  const about = { bench: "daemon", date: new Date().toISOString(), machine: readMachine() } as const;
  using run = startRun();
  using progress = startProgress();
  const namespaces = [nodeUnderTest.namespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail: run.fail });
  const measure = options.subfunctions
    ? measureSubfunctions
    : options.ovs
      ? measureOvs
      : options.vm
        ? measureInGuest
        : measureNatively;
  const measured = await measure(options, { run, progress, cluster });
  const report = { ...about, versions: cluster.versions, ...measured };
  return { ...report, goals: daemonGoals(report) };
}

/** What both kinds of hosts need. */
interface DaemonRun {
  readonly run: Run;
  readonly progress: Progress;
  readonly cluster: BenchCluster;
}

/** The part of the report that depends on where the daemon runs. */
type Measured = Omit<DaemonReport, "bench" | "date" | "machine" | "versions" | "goals">;

async function measureNatively(options: DaemonOptions, { run, progress, cluster }: DaemonRun): Promise<Measured> {
  await using daemon = await createNativeDaemon({ cluster, run, nics: nativeNics, cpuProf: options.cpuProf });
  const measures = createDaemonMeasures(daemon, { progress, signal: run.signal });
  const played = await runNativeScenario(daemon, measures, options).catch(rethrowWithLog(daemon));
  const { peakMb } = await daemon.read();
  await daemon.stop();
  return { host: "fake kernel", ...played, peakMb, stopSeconds: daemon.stopSeconds };
}

async function measureInGuest(options: DaemonOptions, about: DaemonRun): Promise<Measured> {
  return inGuest(options, about, {
    host: "VM lab, igb",
    prepare: () => Promise.resolve(),
    baseline: measureKernel,
    scenario: runGuestScenario,
  });
}

async function measureOvs(options: DaemonOptions, about: DaemonRun): Promise<Measured> {
  return inGuest(options, about, {
    host: "VM lab, igbsw and Open vSwitch",
    prepare: startOpenVSwitch,
    baseline: measureScript,
    scenario: runGuestOvsScenario,
    machine: { driver: "igbsw" },
    daemon: { flags: ovsFlags },
  });
}

async function measureSubfunctions(options: DaemonOptions, about: DaemonRun): Promise<Measured> {
  return inGuest(options, about, {
    host: "VM lab, igbsw and subfunctions",
    prepare: () => Promise.resolve(),
    baseline: measureDevlink,
    scenario: runGuestSubfunctionsScenario,
    machine: { driver: "igbsw" },
    daemon: { kind: "afxdp", workingDevice: firstSubfunction },
  });
}

/** What is measured in a guest. */
interface GuestMeasurement {
  readonly host: DaemonReport["host"];
  readonly prepare: (guest: Guest, signal: AbortSignal) => Promise<void>;
  /** Makes the same changes without the daemon. */
  readonly baseline: (guest: Guest, signal: AbortSignal) => Promise<KernelTimes>;
  readonly scenario: typeof runGuestScenario;
  readonly machine?: MachineOptions;
  readonly daemon?: Pick<GuestDaemonOptions, "flags" | "kind" | "workingDevice">;
}

async function inGuest(
  options: DaemonOptions,
  { run, progress, cluster }: DaemonRun,
  { host, prepare, baseline, scenario, machine = {}, daemon: daemonOptions = {} }: GuestMeasurement,
): Promise<Measured> {
  progress.at("booting a guest");
  await using share = await createGuestShare();
  const healthPort = await findFreePort();
  const hostForwards = [{ hostPort: healthPort, guestPort: guestHealthPort }];
  const { signal } = run;
  await using guest = await bootGuest({ udev: true, share: share.directory, hostForwards, signal, ...machine });
  await prepare(guest, signal);
  const { cpuProf } = options;
  await using daemon = await createGuestDaemon({
    cluster,
    run,
    guest,
    healthPort,
    ...daemonOptions,
    share: share.directory,
    cpuProf: cpuProf !== undefined,
  });
  const measures = createDaemonMeasures(daemon, { progress, signal });
  progress.at("measuring the baseline, before the daemon");
  const before = await baseline(guest, signal);
  const played = await scenario(daemon, measures, options).catch(rethrowWithLog(daemon));
  progress.at("measuring the baseline, after the daemon");
  const after = await baseline(guest, signal).catch((error: unknown) => {
    // QEMU 10.0 sometimes crashes here (iotlb_to_section: Assertion failed). The first measurement is still valid.
    process.stderr.write(`the second measurement of the baseline failed: ${String(error)}\n`);
    return before;
  });
  if (cpuProf !== undefined) await cp(join(share.directory, "prof"), cpuProf, { recursive: true });
  return { host, ...played, kernelTimes: bestOf(before, after), stopSeconds: daemon.stopSeconds };
}

/** Prints the end of the daemon's log, which is deleted at the end of the run, and rethrows the error. */
function rethrowWithLog(daemon: DaemonUnderTest) {
  return (error: unknown): never => {
    process.stderr.write(`The end of the daemon's log:\n${daemon.logEnd()}\n`);
    throw error;
  };
}

/**
 * findFreePort finds a free port on the loopback interface.
 * Another process may take the port before it is used, which is unlikely because the kernel assigns other ports first.
 */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
