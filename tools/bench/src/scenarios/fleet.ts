// SPDX-License-Identifier: Apache-2.0
/** The operator with a real API server and a simulated fleet with VFs. */
import {
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { outputOf } from "@switchyard/testing";
import { startBenchCluster, type BenchCluster } from "../cluster/bench-cluster.ts";
import {
  firstPolicy,
  morePolicies,
  mostPolicies,
  nodeName,
  operatorNamespace,
  plainNamespace,
  profiles,
  reportedState,
  type ProfileName,
} from "../cluster/nodes.ts";
import { createOperator, measureOperatorStep, type OperatorStep } from "../cluster/measured-operator.ts";
import { createFleet, idleAnnotations, type SimulatedFleet } from "../cluster/simulated-fleet.ts";
import { atMost, median, showSeconds, type Goal } from "../harness/report.ts";
import { sharedOptions } from "../harness/options.ts";
import { BenchError } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { bundleProgram } from "../harness/service.ts";
import { plainGoals, quietGoals, stepLegend, stepTable, titleOf, type StepResult } from "../harness/step.ts";
import { measureDrainWave, type DrainWave } from "./drain-wave.ts";

const titles = {
  start: "start, create node states",
  report: "all daemons report their NICs",
  "first-policy": "first policy",
  "change-num-vfs": "change numVfs",
  "more-policies": "more policies",
  label: "one label on one node (no effect)",
  "delete-policies": "delete all policies",
  restart: "restart, converged",
} as const;

export type FleetStepId = keyof typeof titles;

export interface FleetFigures extends CommonFigures {
  readonly steps: readonly StepResult<FleetStepId>[];
  /** Absent without drains. */
  readonly wave?: DrainWave;
}

type Spec = SriovNetworkNodeStateSpec;

const kind = {
  type: sriovNetworkNodeStates,
  owner: "SriovOperatorConfig",
  annotations: idleAnnotations,
  marker: (mark: number): Spec => ({ interfaces: [{ pciAddress: "0000:00:00.0", numVfs: mark }] }),
};

export const fleet = defineScenario({
  name: "fleet",
  summary: "the operator with a real API server and 1,000 simulated nodes",
  about: `Measures the operator with a real API server and simulated nodes. The baseline is a plain client that makes the same
writes in the same run.`,
  options: {
    nodes: { help: "number of nodes", count: 1000, quick: 20, range: [1, 65_536] },
    policies: { help: "number of policies", count: 10, quick: 3, range: [1, 161] },
    profile: { help: "6 PFs without VFs, or 2 PFs with 128 VFs each", choice: ["pf6", "vf256"] },
    connections: sharedOptions.connections,
    rounds: { help: "how often node states and policies are created and deleted", count: 3, quick: 1, range: [1, 10] },
    drains: {
      help: "nodes that request a drain at the same time, in a pool with maxUnavailable 10%; at most all",
      count: 100,
      quick: 10,
      range: [0, 65_536],
    },
    writeConfigmap: { help: "let the operator also write upstream's ConfigMap", flag: true },
    cpuProf: sharedOptions.cpuProf,
  },

  limit({ nodes, policies, profile, drains, ...others }) {
    const most = mostPolicies(profiles[profile]);
    if (policies > most)
      throw new BenchError("usage", `--policies must be at most ${most} with --profile ${profile}, but is ${policies}`);
    return { nodes, policies, profile, drains: Math.min(nodes, drains), ...others };
  },

  async measure(options, run): Promise<FleetFigures> {
    const cluster = await startBenchCluster(run, { namespaces: [operatorNamespace, plainNamespace] });
    const flags = options.writeConfigmap ? ["--write-configmap"] : [];
    const operator = await createOperator(run, cluster, { cpuProf: options.cpuProf, flags });
    const simulated = await createFleet(run, cluster, kind, options);
    const plainStart = await bundleProgram("tools/bench/src/scenarios/plain-start.ts");
    const { kubeconfig } = simulated.plainUser;
    const scenario = stepsOf({
      options,
      cluster,
      simulated,
      start: () => operator.start(run.signal),
      stop: () => operator.stop(),
      async startPlainly(spec) {
        const args = [plainStart, kubeconfig, `${options.connections}`, JSON.stringify(spec)];
        await outputOf(process.execPath, args, { signal: run.signal });
      },
    });
    const steps: StepResult<FleetStepId>[] = [];
    for (const step of scenario) {
      steps.push(await measureOperatorStep({ run, fleet: simulated, operator, titles }, step));
      if (step.id !== "report") continue;
      run.progress.at("writing the same statuses to the plain client's node states");
      await reportAll(options.profile, { cluster, simulated }, plainNamespace);
    }
    const { drains } = options;
    const wave = drains === 0 ? undefined : await measureDrainWave({ run, cluster, operator }, drains);
    return { ...(await cluster.end(operator)), steps, ...(wave && { wave }) };
  },

  goals: ({ steps, wave }, { nodes }) => [...stepGoals(steps, nodes), ...(wave === undefined ? [] : waveGoals(wave))],

  render: ({ steps, wave }, { nodes, policies, profile, connections, writeConfigmap }) => [
    `Operator${writeConfigmap ? " with --write-configmap" : ""}, ${nodes} nodes, ${policies} policies, profile ${profile}`,
    `Plain client: server-side apply of the same specs over ${connections} connections`,
    ...stepLegend,
    "",
    stepTable(titles, steps),
    ...(wave === undefined ? [] : ["", describeWave(wave)]),
  ],
});

function describeWave({ nodes, limit, peak, longestGapSeconds, allSeconds, cpuSeconds }: DrainWave): string {
  return (
    `${nodes} nodes requested a drain at once, ${limit} were allowed: at most ${peak} drained at once, all were done after ` +
    `${showSeconds(allSeconds)}, each free slot was taken within ${showSeconds(longestGapSeconds)}; operator CPU ${showSeconds(cpuSeconds)}`
  );
}

/** CPU seconds of upstream's Go operator, measured at 1,000 nodes. Its cost and the goal grow with the number of nodes. */
const upstreamCpuSeconds: Partial<Record<FleetStepId, number>> = {
  start: 13,
  "first-policy": 12.1,
  "change-num-vfs": 18.6,
  "more-policies": 16.8,
  "delete-policies": 20.3,
};

const timesPlain = 1.25;

/** The operator's debounce. A starting operator sees all nodes at once, which is a burst. */
const waitSeconds = {
  start: 0.5,
  "first-policy": 0.1,
  "change-num-vfs": 0.1,
  "more-policies": 0.5,
  "delete-policies": 0.5,
};

const quiet: readonly FleetStepId[] = ["label", "restart", "report"];
const quietCpuSeconds = 0.05;

/** The largest number of nodes and the memory of the operator. */
const memory = [
  { nodes: 1000, peakMb: 130 },
  { nodes: 5000, peakMb: 400 },
];

/**
 * The goals for time and CPU apply to fleets of at least 1,000 nodes: in smaller fleets the debounce and code that is not
 * yet compiled dominate.
 */
function stepGoals(steps: readonly StepResult<FleetStepId>[], nodes: number): readonly Goal[] {
  const sized = nodes < 1000 ? [] : steps;
  const peakMb = Math.max(...steps.map((step) => step.peakMb));
  const limit = memory.find((one) => nodes <= one.nodes);
  return [
    ...plainGoals(sized, { titles, timesPlain, waitSeconds }),
    ...[...Map.groupBy(sized, ({ id }) => id)].flatMap(([id, rounds]) => {
      const upstream = upstreamCpuSeconds[id];
      const ours = median(rounds.map(({ cpuSeconds }) => cpuSeconds));
      return upstream === undefined ? [] : [atMost(`${titles[id]}, CPU`, ours, (upstream / 4) * (nodes / 1000), "s")];
    }),
    ...steps
      .filter(({ id }) => id === "label")
      .map((step) => atMost(`${titleOf(titles, step)}, CPU`, step.cpuSeconds, quietCpuSeconds, "s")),
    ...quietGoals(steps, { titles, quiet }),
    ...(limit === undefined ? [] : [atMost("peak RSS", peakMb, limit.peakMb, "MB")]),
  ];
}

/** Not more drains at once than the pool allows, no node twice, and a free slot is taken within a second. */
function waveGoals({ nodes, limit, peak, starts, longestGapSeconds }: DrainWave): readonly Goal[] {
  return [
    atMost("drains at once", peak, limit, ""),
    atMost("drains of all nodes", starts, nodes, ""),
    atMost("free slot to the next drain", longestGapSeconds, 1, "s"),
  ];
}

interface Stage {
  readonly cluster: BenchCluster;
  readonly simulated: SimulatedFleet<Spec>;
}

/** Writes the status of all node states of a namespace, as daemons do. */
function reportAll(profile: ProfileName, { cluster: { admin }, simulated }: Stage, namespace: string): Promise<void> {
  return simulated.forAll((index) => {
    const state = reportedState(profiles[profile], namespace, index);
    return admin.apply("config-daemon", sriovNetworkNodeStates, state, "status");
  });
}

interface Parts extends Stage {
  readonly options: { readonly profile: ProfileName; readonly policies: number; readonly rounds: number };
  /** Starts the operator, and first stops the running one, if any. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Writes the specs with a plain client in a new process. */
  readonly startPlainly: (spec: Spec) => Promise<void>;
}

/** The measured steps in their order. Node states, and then policies, are created and deleted in each round. */
function stepsOf({
  options,
  cluster,
  simulated,
  start,
  stop,
  startPlainly,
}: Parts): readonly OperatorStep<FleetStepId, Spec>[] {
  const { admin } = cluster;
  const { numVfs, changedNumVfs } = profiles[options.profile];
  const others = morePolicies(profiles[options.profile], options.policies - 1);
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1);
  const isEmpty = (spec: Spec) => (spec.interfaces ?? []).length === 0;
  // No two policies use the same VF, so there is one group for each policy.
  const groups = (spec: Spec) => (spec.interfaces ?? []).reduce((sum, { vfGroups = [] }) => sum + vfGroups.length, 0);
  const hasFirst = (count: number) => (spec: Spec) => groups(spec) === 1 && spec.interfaces?.[0]?.numVfs === count;
  const apply = (policy: SriovNetworkNodePolicy) => admin.apply("user", sriovNetworkNodePolicies, policy);
  const label = (rack: string) =>
    admin.merge(objectPath(nodeType, { name: nodeName(0) }), { metadata: { labels: { "example.com/rack": rack } } });
  const deleteStates = async (): Promise<void> => {
    await stop();
    for (const namespace of [operatorNamespace, plainNamespace])
      await simulated.forAll((index) => admin.delete(simulated.path(namespace, index)));
  };
  const process = { act: start, startsProcess: true };
  return [
    ...rounds.map((round): OperatorStep<FleetStepId, Spec> => {
      const prepare = round === 1 ? {} : { prepare: deleteStates };
      return { id: "start", round, ...prepare, ...process, wanted: isEmpty, writePlainly: startPlainly };
    }),
    { id: "report", round: 1, act: () => reportAll(options.profile, { cluster, simulated }, operatorNamespace) },
    ...rounds.flatMap((round): readonly OperatorStep<FleetStepId, Spec>[] => [
      { id: "first-policy", round, act: () => apply(firstPolicy(numVfs)), wanted: hasFirst(numVfs) },
      { id: "change-num-vfs", round, act: () => apply(firstPolicy(changedNumVfs)), wanted: hasFirst(changedNumVfs) },
      ...(others.length === 0
        ? []
        : ([
            {
              id: "more-policies",
              round,
              act: () => Promise.all(others.map(apply)),
              wanted: (spec) => groups(spec) === options.policies,
            },
          ] satisfies readonly OperatorStep<FleetStepId, Spec>[])),
      { id: "label", round, act: () => label(`rack-${round}`) },
      ...(round === options.rounds ? [{ id: "restart", round: 1, ...process } as const] : []),
      {
        id: "delete-policies",
        round,
        act: () => admin.delete(collectionPath(sriovNetworkNodePolicies, operatorNamespace)),
        wanted: isEmpty,
      },
    ]),
  ];
}
