// SPDX-License-Identifier: Apache-2.0
/** The operator with a real API server and a simulated fleet whose nodes have AF_XDP devices. */
import { afxdpNetworkNodePolicies, afxdpNetworkNodeStates, afxdpOperatorConfigs } from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { confirmReset } from "@switchyard/test-cluster";
import { afxdpConfig, afxdpPolicy, afxdpStatus } from "../cluster/afxdp-nodes.ts";
import { measureSteps, type Step } from "../cluster/measure-step.ts";
import { operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import { allHave, createOperatorFleet, fleetOptions, type OperatorFleet } from "../cluster/operator-fleet.ts";
import { count } from "../harness/options.ts";
import { atMost } from "../harness/report.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { peakOf, stepGoals, stepLegend, stepTable, type StepResult } from "../harness/step.ts";

/** What the operator waits for further changes at most, as in the scenario fleet. */
export const kinds = {
  off: { title: "start without AF_XDP" },
  config: { title: "AfxdpOperatorConfig, create node states", waitSeconds: 0.5 },
  report: { title: "all daemons report their NICs", quiet: {} },
  policy: { title: "policy for all nodes", waitSeconds: 0.1 },
  change: { title: "change numSfs", waitSeconds: 0.1 },
  restart: { title: "restart, converged", quiet: {} },
  delete: { title: "delete the policy", waitSeconds: 0.1 },
};

interface AfxdpFigures extends CommonFigures {
  readonly steps: readonly StepResult[];
}

export const afxdp = defineScenario({
  name: "afxdp",
  summary: "the operator with AF_XDP devices on 1,000 simulated nodes",
  baseline: "a plain client that repeats the same writes of node states",
  options: {
    ...fleetOptions,
    rounds: count("how often the policy is created, changed and deleted", { standard: 3, quick: 1, range: [1, 10] }),
  },

  async measure(options, run): Promise<AfxdpFigures> {
    const operator = await createOperatorFleet(run, { ...options, type: afxdpNetworkNodeStates });
    const steps = await measureSteps(operator, stepsOf(operator, options.rounds));
    return { ...(await operator.cluster.end(operator.service)), steps };
  },

  goals({ steps }, { nodes }) {
    const [off, ...on] = steps;
    const peakMb = peakOf(on);
    return [
      ...stepGoals(steps, { nodes, timesPlain: 1.25 }),
      atMost("peak RSS more than without AF_XDP", off && peakMb && peakMb - off.peakMb, 20, "MB"),
    ];
  },

  render: ({ steps }, { nodes, connections }) => [
    `operator, ${nodes} nodes with AF_XDP devices`,
    `Plain client: writes the same node states over ${connections} connections`,
    ...stepLegend,
    "",
    stepTable(steps),
  ],
});

function stepsOf(operator: OperatorFleet, lastRound: number): readonly Step[] {
  const { admin } = operator.cluster;
  const isDone = allHave(operator.size, () => true);
  const setPolicy = (numSfs: number) => ({
    act: () => admin.apply("user", afxdpNetworkNodePolicies, afxdpPolicy({ numSfs })),
    isDone,
  });
  const deletePolicies = async (): Promise<void> => {
    await admin.delete(collectionPath(afxdpNetworkNodePolicies, operatorNamespace));
    if (operator.size < 3) return;
    await confirmReset(afxdpOperatorConfigs, {
      namespace: operatorNamespace,
      read: (path) => admin.get(path),
      merge: (path, patch) => admin.merge(path, patch),
    });
  };
  const report = (namespace: string) => operator.report(namespace, () => afxdpStatus);
  const rounds = Array.from({ length: lastRound }, (_, index) => index + 1);
  return [
    { kind: kinds.off, round: 1, ...operator.starts },
    { kind: kinds.config, round: 1, act: () => admin.create(afxdpOperatorConfigs, afxdpConfig), isDone },
    { kind: kinds.report, round: 1, act: () => report(operatorNamespace) },
    ...rounds.flatMap((round): readonly Step[] => [
      {
        kind: kinds.policy,
        round,
        ...(round === 1 && { prepare: () => report(plainNamespace) }), // so that both have as much to store
        ...setPolicy(4),
      },
      { kind: kinds.change, round, ...setPolicy(8) },
      ...(round < lastRound ? [] : [{ kind: kinds.restart, round: 1, ...operator.starts }]),
      { kind: kinds.delete, round, act: deletePolicies, isDone },
    ]),
  ];
}
