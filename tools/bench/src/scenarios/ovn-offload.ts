// SPDX-License-Identifier: Apache-2.0
/** The service ovn-offload with a real API server, OpenShift's CRDs and simulated hosts. */
import { memoryFlags } from "@switchyard/service/memory";
import { openshiftCrds } from "@switchyard/test-cluster";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import { measureSteps, type Step } from "../cluster/measure-step.ts";
import { operatorNamespace } from "../cluster/nodes.ts";
import { fleetOptions } from "../cluster/operator-fleet.ts";
import { atMost, type Goal } from "../harness/report.ts";
import { count, type Options } from "../harness/options.ts";
import { total, withoutLeases } from "../harness/requests.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { buildApp } from "../harness/service.ts";
import {
  medianGoals,
  peakOf,
  stepGoals,
  stepLegend,
  stepTable,
  timedSteps,
  titleOf,
  type StepKind,
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

/**
 * ovn-offload waits one second in each stage, because what is written in one stage must be observed before the next. The stages of
 * "select" are labels with policies, and DNS. Those of "boot" are ports, and labels. Those of "restore" are the labels of
 * OVN-Kubernetes; ports, DNS and policies; and the labels of the pools.
 */
export const kinds = {
  start: { title: "start, nothing selected", quiet: {} },
  select: { title: "select all pools: labels, policies, DNS", waitSeconds: 2 },
  vfs: { title: "all VFs reported: MachineConfigs", waitSeconds: 1 },
  boot: { title: "all hosts booted: management ports, labels", waitSeconds: 2 },
  idle: { title: "idle", quiet: {} },
  label: { title: "one label on one node (no effect)", quiet: { cpuSeconds: 0.1 } },
  report: { title: "one daemon reports (no effect)", quiet: { cpuSeconds: 0.1 } },
  restart: { title: "restart, converged", quiet: {} },
  add: { title: "a host is added" },
  remove: { title: "a host is removed" },
  deselect: { title: "deselect all pools: MachineConfigs", waitSeconds: 1 },
  restore: { title: "all hosts booted: everything restored", waitSeconds: 3 },
} satisfies Record<string, StepKind>;

interface OffloadFigures extends CommonFigures {
  readonly steps: readonly StepResult[];
}

/** The debounce, the pause between two statuses of 1,000 hosts, and 1 s for writing one. */
const statusSecondsLimit = 7;

const peakMbAt1000 = 90;

const options = {
  ...fleetOptions,
  nodes: count("number of hosts", { standard: 1000, quick: 4, range: [1, 65_536] }),
  pools: count("number of MachineConfigPools, at most one for each host", { standard: 20, quick: 2, range: [1, 64] }),
  rounds: count("how often all pools are selected and restored", { standard: 3, quick: 1, range: [1, 10] }),
};

type OffloadOptions = Options<typeof options>;

export const ovnOffload = defineScenario({
  name: "ovn-offload",
  summary:
    "the service ovn-offload with a real API server and 1,000 simulated hosts in 20 pools, each with a BlueField-2 card",
  baseline: "a plain client that repeats the same writes",
  options,

  limit: (chosen) => ({ ...chosen, pools: Math.min(chosen.pools, chosen.nodes) }),

  async measure({ connections, cpuProf, ...sizes }, run): Promise<OffloadFigures> {
    run.progress.at("building ovn-offload");
    const script = await buildApp("ovn-offload");
    const cluster = await startBenchCluster(run, { namespaces: openshiftNamespaces, crds: await openshiftCrds() });
    const hosts = await createOffloadCluster(run, cluster.admin, sizes);
    const service = await cluster.service("ovn-offload", {
      script,
      // As in its container. Without these flags, the program restarts itself.
      nodeFlags: memoryFlags,
      env: { MALLOC_ARENA_MAX: "1" },
      args: ["--namespace", operatorNamespace],
      cpuProf,
    });
    const view = () => readOffload(cluster.admin);
    const parts = { hosts, view, before: await view(), start: () => service.start(run.signal), sizes };
    const bench = {
      ...{ run, cluster, service, plain: await cluster.plainUser(connections) },
      isCauseTimed: false,
      isTimed: () => true,
      isStatus: isOfStatus,
      quietMs: { done: quietMs, without: quietMs },
    };
    const steps = await measureSteps(bench, stepsOf(parts));
    return { ...(await cluster.end(service)), steps };
  },

  goals({ steps }, { nodes, pools }) {
    return [
      ...stepGoals(steps, { nodes, timesPlain: 2 }),
      ...medianGoals(timedSteps(steps, nodes), ({ title, waitSeconds }) => {
        const what = `${title}, status after the other writes`;
        const valueOf = ({ seconds = 0, statusSeconds = Number.NaN }: StepResult) =>
          Math.max(0, statusSeconds - seconds);
        return waitSeconds === undefined ? undefined : { what, valueOf, limit: statusSecondsLimit, unit: "s" };
      }),
      ...steps.filter(({ kind }) => kind.quiet === undefined).flatMap((step) => writeGoals(step, { nodes, pools })),
      ...(nodes > 1000 ? [] : [atMost("peak RSS", peakOf(steps), peakMbAt1000, "MB")]),
    ];
  },

  render: ({ steps }, { nodes, pools, connections }) => [
    `ovn-offload, ${nodes} hosts in ${pools} pools`,
    "All: seconds from the last write that causes the step to the last write of ovn-offload that is not its status",
    "Status: seconds to the last write of the status, which has a pace of its own",
    `Plain client: repeats the writes of that time, with bodies of the same size, over ${connections} connections`,
    ...stepLegend.slice(1),
    "",
    stepTable(steps),
  ],
});

/** Longer than ovn-offload waits for further changes, and between two writes of the status of 1,000 hosts. */
const quietMs = 6_000;

/**
 * One write of each MachineConfig and change, and one for each stage of a Node; ConfigMaps are written for many hosts at once. A
 * host that is restored before the others gets the label of DNS, which is removed when all are.
 */
function writeGoals(
  step: StepResult,
  { nodes: hosts, pools }: Pick<OffloadOptions, "nodes" | "pools">,
): readonly Goal[] {
  const { kind, requests } = step;
  const nodes = hosts + otherNodes;
  const writes = Object.entries(withoutLeases(requests.writes));
  const of = (resource: string) =>
    total(Object.fromEntries(writes.filter(([what]) => what.endsWith(` ${resource.toLowerCase()}`))));
  const ofNodes = new Map<StepKind, number>([
    ...([
      [kinds.select, nodes],
      [kinds.boot, hosts],
    ] as const),
    ...([
      [kinds.add, 2],
      [kinds.restore, 4 * nodes],
    ] as const),
  ]);
  const most = {
    MachineConfigs: kind === kinds.vfs || kind === kinds.deselect ? pools : 0,
    Nodes: ofNodes.get(kind) ?? 0,
    ConfigMaps: Math.max(pools, hosts / 10),
  };
  return Object.entries(most).map(([resource, count]) =>
    atMost(`${titleOf(step)}, writes of ${resource}`, of(resource), count, ""),
  );
}

interface Parts {
  readonly hosts: OffloadCluster;
  readonly view: () => Promise<OffloadView>;
  /** The cluster before the first selection. */
  readonly before: OffloadView;
  /** Starts the service, and first stops the running one, if any. */
  readonly start: () => Promise<void>;
  readonly sizes: Pick<OffloadOptions, "nodes" | "pools" | "rounds">;
}

/** The measured steps in their order: in each round all pools are selected, and everything is restored. */
function stepsOf({ hosts, view, before, start, sizes }: Parts): readonly Step[] {
  const { nodes: count, pools, rounds } = sizes;
  const has = (isDone: (found: OffloadView) => boolean) => async (): Promise<true | string> => {
    const found = await view();
    if (isDone(found)) return true;
    const { all, ...counts } = found;
    return `${JSON.stringify(counts)} ${all.slice(-1000)}`;
  };
  const isReady = (hostCount: number) =>
    has(({ published, labelled, condition }) => {
      return published === hostCount && labelled === hostCount && condition === "True";
    });
  const withoutRack = (all: string) => all.replace(/"example\.com\/rack":"[^"]*",?/g, ""); // of the step "label"

  const roundOf = (round: number): readonly Step[] => [
    {
      kind: kinds.select,
      round,
      async act() {
        await hosts.report("plain"); // the VFs of the former round are gone
        await hosts.select();
      },
      isDone: has((found) => found.marked === count && found.policies === pools && found.isDnsPlaced),
    },
    {
      kind: kinds.vfs,
      round,
      act: () => hosts.report("with-vfs"),
      isDone: has((found) => found.machineConfigs === pools),
    },
    { kind: kinds.boot, round, act: () => hosts.boot(true), isDone: isReady(count) },
    { kind: kinds.idle, round, act: () => Promise.resolve() },
    { kind: kinds.label, round, act: () => hosts.labelNode(`rack-${round}`) },
    { kind: kinds.report, round, act: () => hosts.reportMtu(9000 + round) },
    ...(round === rounds ? [{ kind: kinds.restart, round: 1, act: start, startsProcess: true }] : []),
    { kind: kinds.add, round, act: () => hosts.addHost(), isDone: isReady(count + 1) },
    { kind: kinds.remove, round, act: () => hosts.removeHost(), isDone: isReady(count) },
    {
      kind: kinds.deselect,
      round,
      act: () => hosts.deselect(),
      isDone: has((found) => found.machineConfigs === 0),
    },
    {
      kind: kinds.restore,
      round,
      act: () => hosts.boot(false),
      isDone: has((found) => withoutRack(found.all) === withoutRack(before.all)),
    },
  ];
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
  return [{ kind: kinds.start, round: 1, act: start, startsProcess: true }, ...numbers.flatMap(roundOf)];
}

/** The status is written at a pace of its own (StatusPace). */
function isOfStatus({ objectRef }: { readonly objectRef?: { readonly resource?: string } }): boolean {
  return objectRef?.resource === "sriovoperatorconfigs";
}
