// SPDX-License-Identifier: Apache-2.0
/** The config daemon of one node with a real API server, on the fake kernel or in the VM lab. */
import { findFreePorts, renderTable, writeToStderr } from "@switchyard/testing";
import { bootGuest } from "@switchyard/vm-lab";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startBenchCluster, type BenchCluster } from "../../cluster/bench-cluster.ts";
import { atMost, showMb, showRatio, showSeconds, type Goal } from "../../harness/report.ts";
import { count, sharedOptions, toggle, type Options } from "../../harness/options.ts";
import { listCounts, total } from "../../harness/requests.ts";
import type { Run } from "../../harness/run.ts";
import { defineScenario, type CommonFigures } from "../../harness/scenario.ts";
import type { Cost } from "../../harness/step.ts";
import { bestOf, parseTimes, runInGuest, type KernelTimes } from "./baseline.ts";
import { createGuestDaemon, createGuestShare, guestHealthPort } from "./guest-daemon.ts";
import { hosts, nativeNics, zeroToFour, type Host, type HostName } from "./hosts.ts";
import { measureHost, type DaemonResult, type HostFigures } from "./measure-host.ts";
import { createNativeDaemon } from "./native-daemon.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";

export interface DaemonFigures extends HostFigures, Omit<CommonFigures, "stopSeconds"> {
  readonly host: HostName;
  /** Best times of the kernel alone, by the title of the change; none for the fake kernel, which takes no time. */
  readonly kernelTimes: KernelTimes;
}

const options = {
  vm: toggle("use a real kernel with igb in the VM lab instead of the fake kernel"),
  ovs: toggle("use the VM lab with a simulated eswitch, and measure switchdev mode with a bridge of Open vSwitch"),
  subfunctions: toggle(
    "use the VM lab with a simulated eswitch, and measure 64 subfunctions next to a loop of devlink commands",
  ),
  idleSeconds: count("how long the idle daemon is measured", { standard: 30, quick: 1, range: [1, 3600] }),
  rounds: count("how often the daemon starts, and VFs are created and removed", {
    standard: 2,
    quick: 1,
    range: [1, 10],
  }),
  cpuProf: sharedOptions.cpuProf,
};

type DaemonOptions = Options<typeof options>;

export const daemon = defineScenario({
  name: "daemon",
  summary: "the config daemon of one node, on the fake kernel or (--vm) on a real kernel",
  baseline: "the time that the kernel alone needs",
  options,

  async measure(chosen, run): Promise<DaemonFigures> {
    const host = hostOf(chosen);
    const cluster = await startBenchCluster(run);
    const measured = await measure(run, cluster, { ...chosen, host: hosts[host] });
    return { host, versions: cluster.versions, ...measured };
  },

  goals(figures) {
    const { results, peakMb, host } = figures;
    const { limits } = hosts[host];
    const of = (what: DaemonResult["what"]) => results.filter((result) => result.what === what);
    const byTitle = (what: DaemonResult["what"]) => [...Map.groupBy(of(what), ({ title }) => title)];
    const all = ({ requests }: Cost) => total(requests.writes) + total(requests.reads);
    const forks = ({ childFaults }: Cost) => (childFaults === 0 ? 0 : 1);
    return [
      // Other work, and an emulator that must first translate the code, only make a start slower.
      ...byTitle("start").map(([title, rounds]) => atMost(title, best(rounds), startSeconds, "s")),
      ...byTitle("change").flatMap(([title, rounds]) => changeGoals(title, rounds, figures)),
      ...of("change").flatMap((change) => [
        atMost(`${change.title} (${change.round}), forks`, forks(change), 0, ""),
        atMost(`${change.title} (${change.round}), requests`, all(change), limits.requests, ""),
      ]),
      ...of("refusal").flatMap(({ title, seconds, isAnythingDestroyed }) => [
        atMost(`${title}, error shown`, seconds, refusalSeconds, "s"),
        atMost(`${title}, working VFs destroyed`, isAnythingDestroyed === false ? 0 : 1, 0, ""),
      ]),
      ...of("flap").flatMap(({ title, requests }) => [
        atMost(`${title}, writes`, total(requests.writes), 1, ""),
        atMost(`${title}, reads`, total(requests.reads), 0, ""),
      ]),
      ...of("idle").flatMap((idle) => [
        atMost("idle, CPU", inTicks(idle.cpuSeconds), (idle.seconds ?? 0) * idleShare + clockTick, "s"),
        atMost("idle, requests", all(idle), 0, ""),
        atMost("idle, forks", forks(idle), 0, ""),
      ]),
      atMost("peak RSS", peakMb, limits.rssMb, "MB"),
    ];
  },

  render({ host, kernelTimes, results, peakMb }) {
    const of = (...kinds: readonly DaemonResult["what"][]) =>
      kinds.flatMap((kind) => results.filter(({ what }) => what === kind));
    return [
      `Config daemon on the ${host}`,
      "Seconds from the change of the spec at the API server; CPU, forks and requests of the daemon until it is idle again",
      "",
      renderTable(
        ["change", "kernel alone", "and udev", "first write", "Succeeded", "ratio", ...costHead],
        of("change").map((change) => {
          const kernel = kernelTimes[change.title];
          const { seconds, firstWriteSeconds } = change;
          const times = [kernel?.seconds, kernel?.withUdevSeconds, firstWriteSeconds, seconds].map(showSeconds);
          return [titleOf(change), ...times, showRatio(seconds, kernel?.seconds), ...costCells(change)];
        }),
      ),
      "",
      renderTable(
        ["", "time", "RSS", "working VFs", ...costHead],
        of("start", "idle", "flap", "refusal").map((result) => {
          const { what, seconds, rssMb, isAnythingDestroyed } = result;
          const time = seconds === undefined ? "" : showSeconds(seconds);
          const vfs = isAnythingDestroyed === undefined ? "" : isAnythingDestroyed ? "destroyed" : "untouched";
          const rss = what === "start" || what === "idle" ? showMb(rssMb) : "";
          return [`${titleOf(result)}${until[what] ?? ""}`, time, rss, vfs, ...costCells(result)];
        }),
      ),
      "",
      ...of("refusal").map(({ title, words = "" }) => `${title}: "${words}"`),
      `Peak RSS ${showMb(peakMb)}`,
    ];
  },
});

/** What ends the time of a row. */
const until: Partial<Record<DaemonResult["what"], string>> = {
  start: ", until the NICs are shown",
  refusal: ", until Failed is shown",
};

/** Returns the host that the options ask for. */
export function hostOf({ vm, ovs, subfunctions }: Pick<DaemonOptions, "vm" | "ovs" | "subfunctions">): HostName {
  if (subfunctions) return "VM lab, igbsw and subfunctions";
  if (ovs) return "VM lab, igbsw and Open vSwitch";
  return vm ? "VM lab, igb" : "fake kernel";
}

const costHead = ["CPU", "forks", "requests"];

function costCells({ cpuSeconds, childFaults, requests }: Cost): readonly string[] {
  const forks = childFaults === 0 ? "0" : "some";
  return [showSeconds(cpuSeconds), forks, listCounts({ ...requests.writes, ...requests.reads })];
}

function titleOf({ title, round }: DaemonResult): string {
  return round === 1 ? title : `${title} (${round})`;
}

const startSeconds = 2.5;
const changeCpuSeconds = 0.7;
const refusalSeconds = 1;

/** The share of one processor that an idle daemon may use, and the resolution of the clock of /proc. */
const idleShare = 0.001;
const clockTick = 0.01;

/** Without the error of floating point: a difference of 4 ticks is 0.04, not 0.040000000000000036. */
function inTicks(seconds: number): number {
  return Math.round(seconds / clockTick) * clockTick;
}

/** The shortest time of all rounds, because other work on the machine only makes a round slower. */
function best(rounds: readonly DaemonResult[]): number {
  return Math.min(...rounds.map(({ seconds = Number.NaN }) => seconds));
}

function changeGoals(
  title: string,
  rounds: readonly DaemonResult[],
  { kernelTimes, host }: DaemonFigures,
): readonly Goal[] {
  const { timesKernel, ownSeconds } = hosts[host].limits;
  const kernel = kernelTimes[title];
  const cpu = Math.min(...rounds.map(({ cpuSeconds }) => cpuSeconds));
  const limit = (kernel?.withUdevSeconds ?? 0) * timesKernel + ownSeconds;
  return [
    // Without the time of the kernel, only the CPU time has a goal.
    ...(ownSeconds === 0 && kernel === undefined ? [] : [atMost(`${title}, Succeeded`, best(rounds), limit, "s")]),
    ...(title === zeroToFour ? [atMost(`${title}, CPU`, cpu, changeCpuSeconds, "s")] : []),
  ];
}

interface MeasureOptions extends Pick<DaemonOptions, "rounds" | "idleSeconds" | "cpuProf"> {
  readonly host: Host;
}

type Measured = HostFigures & Pick<DaemonFigures, "kernelTimes">;

async function measure(run: Run, cluster: BenchCluster, options: MeasureOptions): Promise<Measured> {
  const { host, cpuProf } = options;
  const { plan, guest } = host;
  if (guest !== undefined) return measureInGuest(run, cluster, { ...options, guest });
  const native = await createNativeDaemon(run, cluster, { nics: nativeNics, cpuProf });
  const figures = await measureHost(run, native, { ...options, plan }).catch(rethrowWithLog(native));
  const { title = "", kernelSeconds: seconds = 0 } = plan.slow ?? {};
  return { ...figures, kernelTimes: { [title]: { seconds, withUdevSeconds: seconds } } };
}

async function measureInGuest(
  run: Run,
  cluster: BenchCluster,
  { host, guest: about, cpuProf, ...options }: MeasureOptions & { readonly guest: NonNullable<Host["guest"]> },
): Promise<Measured> {
  const { progress, signal } = run;
  progress.at("booting a guest");
  const share = await createGuestShare(run);
  const [healthPort = 0] = await findFreePorts(1);
  const hostForwards = [{ hostPort: healthPort, guestPort: guestHealthPort }];
  const guest = run.use(await bootGuest({ udev: true, share, hostForwards, signal, ...about.machine }));
  if (about.prepare !== undefined) await runInGuest(guest, about.prepare, signal);
  const profile = { cpuProf: cpuProf !== undefined };
  const inGuest = await createGuestDaemon(run, cluster, { guest, share, healthPort, ...profile, ...about.daemon });
  const measureBaseline = async (): Promise<KernelTimes> => parseTimes(await runInGuest(guest, about.baseline, signal));
  progress.at("measuring the baseline, before the daemon");
  const before = await measureBaseline();
  const figures = await measureHost(run, inGuest, { ...options, plan: host.plan }).catch(rethrowWithLog(inGuest));
  progress.at("measuring the baseline, after the daemon");
  const after = await measureBaseline().catch((error: unknown) => {
    // QEMU 10.0 sometimes crashes here (iotlb_to_section: Assertion failed). The first measurement is still valid.
    writeToStderr(`the second measurement of the baseline failed: ${String(error)}`);
    return before;
  });
  if (cpuProf !== undefined) await cp(join(share, "prof"), cpuProf, { recursive: true });
  return { ...figures, kernelTimes: bestOf(before, after) };
}

/** Prints the end of the daemon's log, which is deleted at the end of the run, and rethrows the error. */
function rethrowWithLog(measured: DaemonUnderTest) {
  return (error: unknown): never => {
    writeToStderr(`The end of the daemon's log:\n${measured.logEnd()}`);
    throw error;
  };
}
