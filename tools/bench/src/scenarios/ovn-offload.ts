// SPDX-License-Identifier: Apache-2.0
/** The service ovn-offload with a real API server, OpenShift's CRDs and simulated hosts. */
import { memoryFlags } from "@switchyard/service/memory";
import { mapConcurrently } from "@switchyard/service";
import { openshiftCrds } from "@switchyard/test-cluster";
import type { AuditEvent } from "@switchyard/testing";
import { startBenchCluster, type ClusterService } from "../cluster/bench-cluster.ts";
import { operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { atMost, median, type Goal } from "../harness/report.ts";
import { loadBetween, readLoad, untilIdle } from "../harness/proc.ts";
import { sharedOptions } from "../harness/options.ts";
import { countRequests, total, withoutLeases } from "../harness/requests.ts";
import { BenchError, pause, type Run } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { buildApp } from "../harness/service.ts";
import {
  measurePlainly,
  plainGoals,
  quietGoals,
  stepCells,
  stepLegend,
  stepTable,
  titleOf,
  type StepResult,
} from "../harness/step.ts";
import {
  createOffloadCluster,
  otherNodes,
  readOffload,
  type OffloadCluster,
  type OffloadView,
} from "./offload-cluster.ts";
import { openshiftNamespaces } from "./offload-objects.ts";
import { bytesOf, isReplayed, plainReplay } from "./plain-replay.ts";

const titles = {
  start: "start, nothing selected",
  select: "select all pools: labels, policies, DNS",
  vfs: "all VFs reported: MachineConfigs",
  boot: "all hosts booted: management ports, labels",
  idle: "idle",
  label: "one label on one node (no effect)",
  report: "one daemon reports (no effect)",
  restart: "restart, converged",
  add: "a host is added",
  remove: "a host is removed",
  deselect: "deselect all pools: MachineConfigs",
  restore: "all hosts booted: everything restored",
} as const;

export type OffloadStepId = keyof typeof titles;

type Result = StepResult<OffloadStepId>;

export interface OffloadFigures extends CommonFigures {
  readonly steps: readonly Result[];
}

export const ovnOffload = defineScenario({
  name: "ovn-offload",
  summary: "the service ovn-offload with a real API server and 1,000 simulated hosts in 20 pools",
  about: `Measures the service ovn-offload with a real API server, OpenShift's CRDs and simulated hosts, which have one
BlueField-2 card each. The baseline is a plain client that repeats the same writes in the same run.`,
  options: {
    nodes: { help: "number of hosts", count: 1000, quick: 4, range: [1, 65_536] },
    pools: { help: "number of MachineConfigPools, at most one for each host", count: 20, quick: 2, range: [1, 64] },
    connections: sharedOptions.connections,
    rounds: { help: "how often all pools are selected and restored", count: 3, quick: 1, range: [1, 10] },
    cpuProf: sharedOptions.cpuProf,
  },

  limit: (options) => ({ ...options, pools: Math.min(options.pools, options.nodes) }),

  async measure({ nodes, pools, connections, rounds, cpuProf }, run): Promise<OffloadFigures> {
    run.progress.at("building ovn-offload");
    const script = await buildApp("ovn-offload");
    const namespaces = [operatorNamespace, plainNamespace, ...openshiftNamespaces];
    const cluster = await startBenchCluster(run, { namespaces, crds: await openshiftCrds() });
    const hosts = await createOffloadCluster(run, cluster.admin, { nodes, pools });
    const service = await cluster.service("ovn-offload", {
      script,
      // As in its container. Without these flags, the program restarts itself.
      nodeFlags: memoryFlags,
      env: { MALLOC_ARENA_MAX: "1" },
      args: ["--namespace", operatorNamespace],
      cpuProf,
    });
    const plain = await (await cluster.user("plain")).client(connections);
    const before = await readOffload(cluster.admin);
    const start = () => service.start(run.signal);
    const bench = { run, service, plain, connections, view: () => readOffload(cluster.admin) };
    const steps: Result[] = [];
    for (const step of stepsOf({ hosts, before, start, counts: { nodes, pools, rounds } })) {
      const result = await measureStep(bench, step);
      steps.push(result);
      run.progress.say(Object.values(stepCells(titles, result)).join(" | ")); // a run takes long
    }
    return { ...(await cluster.end(service)), steps };
  },

  goals: ({ steps }, { nodes: hosts, pools }) => stepGoals(steps, { hosts, pools, nodes: hosts + otherNodes }),

  render: ({ steps }, { nodes, pools, connections }) => [
    `ovn-offload, ${nodes} hosts in ${pools} pools`,
    "All: seconds from the last write that causes the step to the last write of ovn-offload that is not its status",
    "Status: seconds to the last write of the status, which has a pace of its own",
    `Plain client: repeats the writes of that time, with bodies of the same size, over ${connections} connections`,
    ...stepLegend.slice(1),
    "",
    stepTable(titles, steps),
  ],
});

interface Sizes {
  readonly hosts: number;
  readonly pools: number;
  /** Number of all nodes. */
  readonly nodes: number;
}

/**
 * What ovn-offload waits at most for further changes before it writes: one second in each stage. What is written in one stage
 * must be observed before the next.
 */
const waitSeconds: Partial<Record<OffloadStepId, number>> = {
  select: 2, // labels and policies; DNS
  vfs: 1,
  boot: 2, // ports; labels
  deselect: 1,
  restore: 3, // labels of OVN-Kubernetes; ports, DNS and policies; labels of the pools
};

const quiet: readonly OffloadStepId[] = ["start", "idle", "label", "report", "restart"];
const quietCpuSeconds = 0.1;

/** The debounce, the pause between two statuses of 1,000 hosts, and 1 s for writing one. */
const statusSecondsLimit = 7;

const peakMbAt1000 = 90;

/** The goals for time apply to at least 1,000 hosts: with fewer, the debounce and code that is not yet compiled dominate. */
function stepGoals(steps: readonly Result[], sizes: Sizes): readonly Goal[] {
  const sized = sizes.hosts < 1000 ? [] : steps;
  const peakMb = Math.max(...steps.map((step) => step.peakMb));
  return [
    ...plainGoals(sized, { titles, timesPlain: 2, waitSeconds }),
    ...[...Map.groupBy(sized, ({ id }) => id)].flatMap(([id, rounds]) => {
      if (waitSeconds[id] === undefined) return [];
      const lags = rounds.map(({ seconds = 0, statusSeconds = Number.NaN }) => Math.max(0, statusSeconds - seconds));
      return [atMost(`${titles[id]}, status after the other writes`, median(lags), statusSecondsLimit, "s")];
    }),
    ...quietGoals(steps, { titles, quiet }),
    ...steps
      .filter(({ id }) => id === "label" || id === "report")
      .map((step) => atMost(`${titleOf(titles, step)}, CPU`, step.cpuSeconds, quietCpuSeconds, "s")),
    ...steps.filter(({ id }) => !quiet.includes(id)).flatMap((step) => writeGoals(step, sizes)),
    ...(sizes.hosts > 1000 ? [] : [atMost("peak RSS", peakMb, peakMbAt1000, "MB")]),
  ];
}

/**
 * One write of each MachineConfig and change, and one for each stage of a Node; ConfigMaps are written for many hosts at once. A
 * host that is restored before the others gets the label of DNS, which is removed when all are.
 */
function writeGoals(step: Result, { hosts, pools, nodes }: Sizes): readonly Goal[] {
  const { id, requests } = step;
  const writes = Object.entries(withoutLeases(requests.writes));
  const of = (resource: string) =>
    total(Object.fromEntries(writes.filter(([what]) => what.endsWith(` ${resource.toLowerCase()}`))));
  const ofNodes: Partial<Record<OffloadStepId, number>> = { select: nodes, boot: hosts, add: 2, restore: 4 * nodes };
  const most = {
    MachineConfigs: id === "vfs" || id === "deselect" ? pools : 0,
    Nodes: ofNodes[id] ?? 0,
    ConfigMaps: Math.max(pools, hosts / 10),
  };
  return Object.entries(most).map(([resource, count]) =>
    atMost(`${titleOf(titles, step)}, writes of ${resource}`, of(resource), count, ""),
  );
}

interface OffloadStep {
  readonly id: OffloadStepId;
  readonly round: number;
  /** Causes the step. The time of the step begins when it is done. */
  readonly act: () => Promise<unknown>;
  /** Whether the result of the step is there; absent if nothing must be written. */
  readonly isDone?: (view: OffloadView) => boolean;
  /** Whether the step starts a new process, whose whole CPU time belongs to the step. */
  readonly startsService?: boolean;
}

interface Parts {
  readonly hosts: OffloadCluster;
  /** The cluster before the first selection. */
  readonly before: OffloadView;
  /** Starts the service, and first stops the running one, if any. */
  readonly start: () => Promise<void>;
  readonly counts: { readonly nodes: number; readonly pools: number; readonly rounds: number };
}

/** The measured steps in their order: in each round all pools are selected, and everything is restored. */
function stepsOf({ hosts, before, start, counts }: Parts): readonly OffloadStep[] {
  const { nodes, pools, rounds } = counts;
  const isReady = (count: number) => (view: OffloadView) =>
    view.published === count && view.labelled === count && view.condition === "True";
  const withoutRack = (all: string) => all.replace(/"example\.com\/rack":"[^"]*",?/g, ""); // of the step "label"

  const roundOf = (round: number): readonly OffloadStep[] => [
    {
      id: "select",
      round,
      async act() {
        await hosts.report("plain"); // the VFs of the former round are gone
        await hosts.select();
      },
      isDone: (view) => view.marked === nodes && view.policies === pools && view.isDnsPlaced,
    },
    { id: "vfs", round, act: () => hosts.report("with-vfs"), isDone: (view) => view.machineConfigs === pools },
    { id: "boot", round, act: () => hosts.boot(true), isDone: isReady(nodes) },
    { id: "idle", round, act: () => Promise.resolve() },
    { id: "label", round, act: () => hosts.labelNode(`rack-${round}`) },
    { id: "report", round, act: () => hosts.reportMtu(9000 + round) },
    ...(round === rounds ? ([{ id: "restart", round: 1, act: start, startsService: true }] as const) : []),
    { id: "add", round, act: () => hosts.addHost(), isDone: isReady(nodes + 1) },
    { id: "remove", round, act: () => hosts.removeHost(), isDone: isReady(nodes) },
    { id: "deselect", round, act: () => hosts.deselect(), isDone: (view) => view.machineConfigs === 0 },
    {
      id: "restore",
      round,
      act: () => hosts.boot(false),
      isDone: (view) => withoutRack(view.all) === withoutRack(before.all),
    },
  ];
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
  return [{ id: "start", round: 1, act: start, startsService: true }, ...numbers.flatMap(roundOf)];
}

/** What the steps of a run share. */
interface OffloadBench {
  readonly run: Run;
  readonly service: ClusterService;
  readonly plain: PlainClient;
  /** Number of connections of the plain client. */
  readonly connections: number;
  readonly view: () => Promise<OffloadView>;
}

const pollMs = 200;
/** Longer than ovn-offload waits for further changes, and between two writes of the status of 1,000 hosts. */
const quietMs = 6_000;
const limitMs = 60_000;

/** Measures ovn-offload alone, and then the plain client, which repeats what ovn-offload has written. */
async function measureStep(bench: OffloadBench, step: OffloadStep): Promise<Result> {
  const { service, run } = bench;
  const { id, round, act, isDone, startsService = false } = step;
  const title = titleOf(titles, step);
  await service.requests.read();
  const cpuBefore = startsService ? 0 : service.read().cpuSeconds;
  run.progress.at(`${title}: cause`);
  await act();

  const loadBefore = readLoad();
  const beginMs = Date.now();
  let load = loadBetween(loadBefore, readLoad());
  const events: AuditEvent[] = [];
  run.progress.at(title, () => `${events.filter(isReplayed).length} writes`);
  for (let quietSinceMs = beginMs; ;) {
    await pause(pollMs, run.signal);
    const news = await service.requests.read();
    events.push(...news);
    if (news.some(isReplayed)) {
      quietSinceMs = Date.now();
      load = loadBetween(loadBefore, readLoad());
    }
    if (Date.now() - quietSinceMs < quietMs) continue;
    if (isDone === undefined) break;
    const view = await bench.view();
    if (isDone(view)) break;
    if (Date.now() - quietSinceMs > limitMs) {
      const { all, ...counts } = view;
      const found = `${JSON.stringify(counts)} ${all.slice(-1000)}`;
      throw new BenchError("late", `timed out: ${title}: ${found}\n${service.logEnd()}`);
    }
  }
  await untilIdle(service, run.signal);

  const { cpuSeconds, rssMb, peakMb } = service.read();
  const writes = events.filter(isReplayed);
  const { true: statuses = [], false: others = [] } = Object.groupBy(writes, (write) => String(isOfStatus(write)));
  const secondsOf = (some: readonly AuditEvent[]) =>
    Math.max(0, ...some.map(({ stageTimestamp }) => Date.parse(stageTimestamp) - beginMs)) / 1000;
  const requests = countRequests(events);
  return {
    id,
    round,
    load,
    bytes: bytesOf(plainReplay(writes)),
    ...(others.length > 0 && {
      seconds: secondsOf(others),
      ...(await repeatPlainly(bench, title, { writes: others, beginMs })),
    }),
    ...(statuses.length > 0 && { statusSeconds: secondsOf(statuses) }),
    cpuSeconds: cpuSeconds - cpuBefore,
    rssMb,
    peakMb,
    requests,
  };
}

/** The status is written at a pace of its own (StatusPace). */
function isOfStatus({ objectRef }: AuditEvent): boolean {
  return objectRef?.resource === "sriovoperatorconfigs";
}

/**
 * Lets the plain client repeat the writes while ovn-offload is idle. Like the time of ovn-offload, its time is that of the writes
 * which were sent when the cause was complete, at `beginMs`.
 */
async function repeatPlainly(
  { run, plain, connections }: OffloadBench,
  title: string,
  { writes, beginMs }: { readonly writes: readonly AuditEvent[]; readonly beginMs: number },
) {
  const repeat = (some: readonly AuditEvent[]) =>
    mapConcurrently(plainReplay(some), connections, async (ofObject) => {
      run.signal.throwIfAborted();
      for (const request of ofObject) await plain.request(request);
    });
  const isEarly = ({ requestReceivedTimestamp }: AuditEvent) => Date.parse(requestReceivedTimestamp) < beginMs;
  run.progress.at(`${title}: plain client`);
  await repeat(writes.filter(isEarly));
  return measurePlainly(() => repeat(writes.filter((write) => !isEarly(write))));
}
