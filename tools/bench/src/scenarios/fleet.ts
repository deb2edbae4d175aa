// SPDX-License-Identifier: Apache-2.0
/** The operator with a real API server and a simulated fleet with VFs. */
import {
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type SriovNetworkNodeStateSpec,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { oneOf } from "@switchyard/service";
import { confirmReset } from "@switchyard/test-cluster";
import { measureSteps, type Step } from "../cluster/measure-step.ts";
import {
  firstPolicy,
  morePolicies,
  mostPolicies,
  nodeName,
  operatorNamespace,
  plainNamespace,
  profiles,
  reportedStatus,
} from "../cluster/nodes.ts";
import { allHave, createOperatorFleet, fleetOptions, type OperatorFleet } from "../cluster/operator-fleet.ts";
import { atMost, showSeconds, type Goal } from "../harness/report.ts";
import { count, toggle, type Options } from "../harness/options.ts";
import { BenchError } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { peakOf, stepGoals, stepLegend, stepTable, type StepResult } from "../harness/step.ts";
import { measureDrainWave, type DrainWave } from "./drain-wave.ts";

/** The debounce of the operator. A starting operator sees all nodes at once, which is a burst. */
const [one, burst] = [{ waitSeconds: 0.1 }, { waitSeconds: 0.5 }];

/** The last policies of a node may be deleted to be replaced, so its configuration stays for five seconds. */
const replaceable = { waitSeconds: 5.5 };

/** The goal for CPU time is a fourth of what upstream's Go operator takes. */
const upstream = (seconds: number) => ({ cpuSeconds: seconds / 4 });

export const kinds = {
  start: { title: "start, create node states", ...burst, ...upstream(13) },
  report: { title: "all daemons report their NICs", quiet: {} },
  firstPolicy: { title: "first policy", ...one, ...upstream(12.1) },
  changeNumVfs: { title: "change numVfs", ...one, ...upstream(18.6) },
  morePolicies: { title: "more policies", ...burst, ...upstream(16.8) },
  label: { title: "one label on one node (no effect)", quiet: { cpuSeconds: 0.05 } },
  deletePolicies: { title: "delete all policies", ...replaceable, ...upstream(20.3) },
  restart: { title: "restart, converged", quiet: {} },
};

interface FleetFigures extends CommonFigures {
  readonly steps: readonly StepResult[];
  /** Absent without drains. */
  readonly wave?: DrainWave;
}

const options = {
  ...fleetOptions,
  policies: count("number of policies", { standard: 10, quick: 3, range: [1, 161] }),
  profile: {
    help: "6 PFs without VFs; 2 PFs with 128 VFs each; the same with all VFs in pods",
    kind: oneOf("pf6", "vf256", "vf256-held"),
    default: "pf6",
  },
  rounds: count("how often node states and policies are created and deleted", {
    standard: 3,
    quick: 1,
    range: [1, 10],
  }),
  drains: count("nodes that request a drain at the same time, in a pool with maxUnavailable 10%; at most all", {
    standard: 100,
    quick: 10,
    range: [0, 65_536],
  }),
  writeConfigmap: toggle("let the operator also write upstream's ConfigMap"),
};

type FleetOptions = Options<typeof options>;

export const fleet = defineScenario({
  name: "fleet",
  summary: "the operator with a real API server and 1,000 simulated nodes",
  baseline: "a plain client that repeats the same writes of node states",
  options,

  limit({ nodes, policies, profile, drains, ...others }) {
    const most = mostPolicies(profiles[profile]);
    if (policies > most)
      throw new BenchError("usage", `--policies must be at most ${most} with --profile ${profile}, but is ${policies}`);
    return { nodes, policies, profile, drains: Math.min(nodes, drains), ...others };
  },

  async measure(chosen, run): Promise<FleetFigures> {
    const flags = chosen.writeConfigmap ? ["--write-configmap"] : [];
    const operator = await createOperatorFleet(run, { ...chosen, type: sriovNetworkNodeStates, flags });
    const steps = await measureSteps(operator, stepsOf(operator, chosen));
    const wave = chosen.drains === 0 ? undefined : await measureDrainWave(operator, chosen.drains);
    return { ...(await operator.cluster.end(operator.service)), steps, ...(wave && { wave }) };
  },

  goals({ steps, wave }, { nodes }) {
    const limit = memory.find((some) => nodes <= some.nodes);
    return [
      ...stepGoals(steps, { nodes, timesPlain: 1.25 }),
      ...(limit === undefined ? [] : [atMost("peak RSS", peakOf(steps), limit.peakMb, "MB")]),
      ...(wave === undefined ? [] : waveGoals(wave)),
    ];
  },

  render: ({ steps, wave }, { nodes, policies, profile, connections, writeConfigmap }) => [
    `Operator${writeConfigmap ? " with --write-configmap" : ""}, ${nodes} nodes, ${policies} policies, profile ${profile}`,
    `Plain client: repeats the writes of node states over ${connections} connections`,
    ...stepLegend,
    "",
    stepTable(steps),
    ...(wave === undefined ? [] : ["", describeWave(wave)]),
  ],
});

/** The largest number of nodes and the memory of the operator. */
const memory = [
  { nodes: 1000, peakMb: 130 },
  { nodes: 5000, peakMb: 400 },
];

/** Not more drains at once than the pool allows, no node twice, and a free slot is taken within a second. */
function waveGoals({ nodes, limit, peak, starts, longestGapSeconds }: DrainWave): readonly Goal[] {
  return [
    atMost("drains at once", peak, limit, ""),
    atMost("drains of all nodes", starts, nodes, ""),
    atMost("free slot to the next drain", longestGapSeconds, 1, "s"),
  ];
}

function describeWave({ nodes, limit, peak, longestGapSeconds, allSeconds, cpuSeconds }: DrainWave): string {
  return (
    `${nodes} nodes requested a drain at once, ${limit} were allowed: at most ${peak} drained at once, all were done after ` +
    `${showSeconds(allSeconds)}, each free slot was taken within ${showSeconds(longestGapSeconds)}; operator CPU ${showSeconds(cpuSeconds)}`
  );
}

/** The measured steps in their order. Node states, and then policies, are created and deleted in each round. */
function stepsOf(
  operator: OperatorFleet,
  { profile: name, policies, rounds: lastRound }: FleetOptions,
): readonly Step[] {
  const { admin } = operator.cluster;
  const profile = profiles[name];
  const others = morePolicies(profile, policies - 1);
  const rounds = Array.from({ length: lastRound }, (_, index) => index + 1);
  const all = (isExpected: (spec: SriovNetworkNodeStateSpec) => boolean) => allHave(operator.size, isExpected);
  const isEmpty = all(({ interfaces = [] }) => interfaces.length === 0);
  // No two policies use the same VF, so there is one group for each policy.
  const hasGroups = (count: number, numVfs?: number) =>
    all(({ interfaces = [] }) => {
      const groups = interfaces.flatMap(({ vfGroups = [] }) => vfGroups);
      return groups.length === count && (numVfs === undefined || interfaces[0]?.numVfs === numVfs);
    });
  const apply = (policy: ReturnType<typeof firstPolicy>) => admin.apply("user", sriovNetworkNodePolicies, policy);
  const setNumVfs = (numVfs: number) => ({ act: () => apply(firstPolicy(numVfs)), isDone: hasGroups(1, numVfs) });
  const label = (rack: string) =>
    admin.merge(objectPath(nodeType, { name: nodeName(0) }), { metadata: { labels: { "example.com/rack": rack } } });
  const report = (namespace: string) => operator.report(namespace, (index) => reportedStatus(profile, index));
  const deleteStates = async (): Promise<void> => {
    await operator.service.stop();
    for (const namespace of [operatorNamespace, plainNamespace])
      await operator.forAll((index) => admin.delete(operator.path(namespace, index)));
  };
  const start = { kind: kinds.start, ...operator.starts, isDone: isEmpty };
  const addOthers = {
    kind: kinds.morePolicies,
    act: () => Promise.all(others.map(apply)),
    isDone: hasGroups(policies),
  };
  return [
    ...rounds.map((round) => ({ ...start, round, ...(round > 1 && { prepare: deleteStates }) })),
    { kind: kinds.report, round: 1, act: () => report(operatorNamespace) },
    ...rounds.flatMap((round): readonly Step[] => [
      {
        kind: kinds.firstPolicy,
        round,
        ...(round === 1 && { prepare: () => report(plainNamespace) }), // so that both have as much to store
        ...setNumVfs(profile.numVfs),
      },
      { kind: kinds.changeNumVfs, round, ...setNumVfs(profile.changedNumVfs) },
      ...(others.length === 0 ? [] : [{ ...addOthers, round }]),
      { kind: kinds.label, round, act: () => label(`rack-${round}`) },
      ...(round === lastRound ? [{ kind: kinds.restart, round: 1, ...operator.starts }] : []),
      {
        kind: kinds.deletePolicies,
        round,
        act: async () => {
          await admin.delete(collectionPath(sriovNetworkNodePolicies, operatorNamespace));
          if (operator.size >= 3) {
            await confirmReset(sriovOperatorConfigs, {
              namespace: operatorNamespace,
              read: (path) => admin.get(path),
              merge: (path, patch) => admin.merge(path, patch),
            });
          }
        },
        isDone: isEmpty,
      },
    ]),
  ];
}
