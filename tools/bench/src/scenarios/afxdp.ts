// SPDX-License-Identifier: Apache-2.0
/** The operator with a real API server and a simulated fleet whose nodes have AF_XDP devices. */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeStateSpec,
} from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { afxdpApiVersion, afxdpConfig, afxdpDriver, afxdpKind, reportedAfxdpState } from "../cluster/afxdp-nodes.ts";
import { startBenchCluster, type BenchCluster, type ClusterService } from "../cluster/bench-cluster.ts";
import { createOperator, measureOperatorStep, type OperatorStep } from "../cluster/measured-operator.ts";
import { operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import { createFleet, type SimulatedFleet } from "../cluster/simulated-fleet.ts";
import { atMost } from "../harness/report.ts";
import { sharedOptions } from "../harness/options.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { plainGoals, quietGoals, stepLegend, stepTable, type StepResult } from "../harness/step.ts";

const titles = {
  off: "start without AF_XDP",
  config: "AfxdpOperatorConfig, create node states",
  report: "all daemons report their NICs",
  policy: "policy for all nodes",
  change: "change numSfs",
  restart: "restart, converged",
  delete: "delete the policy",
} as const;

export type AfxdpStepId = keyof typeof titles;

type Step = OperatorStep<AfxdpStepId, AfxdpNetworkNodeStateSpec>;

export interface AfxdpFigures extends CommonFigures {
  readonly steps: readonly StepResult<AfxdpStepId>[];
}

/** What the operator waits for further changes at most, as in the scenario fleet. */
const waitSeconds = { config: 0.5, policy: 0.1, change: 0.1, delete: 0.1 };
const quiet: readonly AfxdpStepId[] = ["report", "restart"];

export const afxdp = defineScenario({
  name: "afxdp",
  summary: "the operator with AF_XDP devices on 1,000 simulated nodes",
  about: `Measures the operator with a real API server and a simulated fleet whose nodes have AF_XDP devices. The baseline is a plain
client that writes the same node states in the same run.`,
  options: {
    nodes: { help: "number of nodes", count: 1000, quick: 20, range: [1, 65_536] },
    connections: sharedOptions.connections,
    rounds: { help: "how often the policy is created, changed and deleted", count: 3, quick: 1, range: [1, 10] },
    cpuProf: sharedOptions.cpuProf,
  },

  async measure(options, run): Promise<AfxdpFigures> {
    const cluster = await startBenchCluster(run, { namespaces: [operatorNamespace, plainNamespace] });
    const operator = await createOperator(run, cluster, options);
    const fleet = await createFleet(run, cluster, afxdpKind, options);
    const steps: StepResult<AfxdpStepId>[] = [];
    for (const step of stepsOf({ cluster, operator, fleet, signal: run.signal }, options.rounds)) {
      steps.push(await measureOperatorStep({ run, fleet, operator, titles }, step));
      if (step.id !== "report") continue;
      run.progress.at("writing the same statuses to the plain client's node states");
      await reportAll({ cluster, fleet }, plainNamespace);
    }
    return { ...(await cluster.end(operator)), steps };
  },

  /** The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates. */
  goals({ steps }, { nodes }) {
    const [off, ...on] = steps;
    const peaks = on.map(({ peakMb }) => peakMb);
    return [
      ...plainGoals(nodes < 1000 ? [] : steps, { titles, timesPlain: 1.25, waitSeconds }),
      ...quietGoals(steps, { titles, quiet }),
      atMost("peak RSS more than without AF_XDP", off && Math.max(...peaks) - off.peakMb, 20, "MB"),
    ];
  },

  render: ({ steps }, { nodes, connections }) => [
    `operator, ${nodes} nodes with AF_XDP devices`,
    `Plain client: writes the same node states over ${connections} connections`,
    ...stepLegend,
    "",
    stepTable(titles, steps),
  ],
});

interface Stage {
  readonly cluster: BenchCluster;
  readonly fleet: SimulatedFleet<AfxdpNetworkNodeStateSpec>;
}

/** Writes the status of all node states of a namespace, as daemons do. */
function reportAll({ cluster: { admin }, fleet }: Stage, namespace: string): Promise<void> {
  return fleet.forAll((index) =>
    admin.apply("config-daemon", afxdpNetworkNodeStates, reportedAfxdpState(namespace, index), "status"),
  );
}

interface Parts extends Stage {
  readonly operator: ClusterService;
  readonly signal: AbortSignal;
}

function stepsOf({ operator, signal, ...stage }: Parts, lastRound: number): readonly Step[] {
  const { admin } = stage.cluster;
  const process = { act: () => operator.start(signal), startsProcess: true };
  const wanted = (): boolean => true;
  const setPolicy = (numSfs: number) => ({
    act: () => admin.apply("user", afxdpNetworkNodePolicies, policyFor(numSfs)),
    wanted,
  });
  const deletePolicies = () => admin.delete(collectionPath(afxdpNetworkNodePolicies, operatorNamespace));
  const rounds = Array.from({ length: lastRound }, (_, index) => index + 1);
  return [
    { id: "off", round: 1, ...process },
    { id: "config", round: 1, act: () => admin.create(afxdpOperatorConfigs, afxdpConfig), wanted },
    { id: "report", round: 1, act: () => reportAll(stage, operatorNamespace) },
    ...rounds.flatMap((round): readonly Step[] => [
      { id: "policy", round, ...setPolicy(4) },
      { id: "change", round, ...setPolicy(8) },
      ...(round < lastRound ? [] : [{ id: "restart", round: 1, ...process } as const]),
      { id: "delete", round, act: deletePolicies, wanted },
    ]),
  ];
}

/** A policy for both NICs of all nodes. */
function policyFor(numSfs: number): AfxdpNetworkNodePolicy {
  return {
    apiVersion: afxdpApiVersion,
    kind: "AfxdpNetworkNodePolicy",
    metadata: { name: "all", namespace: operatorNamespace },
    spec: { poolName: "fast", nodeSelector: {}, nicSelector: { driver: afxdpDriver }, numSfs },
  };
}
