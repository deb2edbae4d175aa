// SPDX-License-Identifier: Apache-2.0
/**
 * The operator with a real API server and a simulated fleet whose AF_XDP programs bpfman loads. The harness writes what the
 * daemons, the device plugins and bpfman's agents of the nodes would write.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  type AfxdpBpfmanStatus,
  type AfxdpLoader,
  type AfxdpNetworkNodeState,
  type ClusterBpfApplication,
} from "@switchyard/api";
import { apiVersionOf, collectionPath, objectPath } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { bpfmanCrds, eventually, type AuditEvent } from "@switchyard/testing";
import { afxdpConfig, afxdpNics, afxdpPolicy, afxdpStatus } from "../cluster/afxdp-nodes.ts";
import { measureSteps, type Step } from "../cluster/measure-step.ts";
import { configMetadata, nodeName, operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import { createOperatorFleet, fleetOptions, type OperatorFleet } from "../cluster/operator-fleet.ts";
import { plainPrefix } from "../cluster/plain-replay.ts";
import { count } from "../harness/options.ts";
import { atMost, showMb } from "../harness/report.ts";
import { untilIdle } from "../harness/proc.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { peakOf, stepGoals, stepLegend, stepTable, type StepResult } from "../harness/step.ts";

export const kinds = {
  load: { title: "loader bpfman, objects for all devices", waitSeconds: 0 },
  loaded: { title: "bpfman reports all programs" },
  restart: { title: "restart, converged", quiet: {} },
  remove: { title: "loader builtin, all devices confirmed", waitSeconds: 0 },
};

interface BpfmanFigures extends CommonFigures {
  /** The largest RSS of the operator with all policies and loader builtin. */
  readonly builtinPeakMb: number;
  readonly steps: readonly StepResult[];
}

export const bpfman = defineScenario({
  name: "bpfman",
  summary: "the operator with 2,000 AF_XDP devices whose programs bpfman loads",
  baseline: "a plain client that repeats the same writes",
  options: {
    ...fleetOptions,
    nodes: count("number of nodes, each with two devices", { standard: 1000, quick: 10, range: [1, 65_536] }),
  },

  async measure(options, run): Promise<BpfmanFigures> {
    const operator = await createOperatorFleet(run, {
      ...options,
      type: afxdpNetworkNodeStates,
      timed: [clusterBpfApplications.plural, `${afxdpNetworkNodeStates.plural}/status`],
      crds: [bpfmanCrds("0.6")],
    });
    await prepare(operator);
    const builtinPeakMb = operator.service.read().peakMb;
    const steps = await measureSteps(operator, stepsOf(operator));
    return { ...(await operator.cluster.end(operator.service)), builtinPeakMb, steps };
  },

  goals({ steps, builtinPeakMb }, { nodes }) {
    const peakMb = peakOf(steps);
    return [
      ...stepGoals(steps, { nodes, timesPlain: 1.25 }),
      atMost("peak RSS more than with loader builtin", peakMb && peakMb - builtinPeakMb, 20, "MB"),
    ];
  },

  render: ({ steps, builtinPeakMb }, { nodes, connections }) => [
    `operator, ${nodes} nodes with two AF_XDP devices each`,
    `Plain client: writes the same objects and statuses over ${connections} connections`,
    `Peak RSS with loader builtin: ${showMb(builtinPeakMb)}`,
    ...stepLegend,
    "",
    stepTable(steps),
  ],
});

/** Writes the reports of the nodes and a policy, and waits until the operator has done everything for loader builtin. */
async function prepare(operator: OperatorFleet): Promise<void> {
  const { run, cluster, service } = operator;
  const { admin } = cluster;
  await admin.create(afxdpOperatorConfigs, afxdpConfig);
  await admin.create(afxdpNetworkNodePolicies, afxdpPolicy({ mode: "primary" }));
  run.progress.at("starting the operator");
  await service.start(run.signal);
  await untilStates(operator, "node states of all nodes", () => true);
  run.progress.at("all daemons report");
  await operator.forAll(async (index) => {
    const metadata = { name: nodeName(index), namespace: plainNamespace };
    await admin.apply("plain", afxdpNetworkNodeStates, { metadata });
  });
  for (const namespace of [operatorNamespace, plainNamespace]) {
    await operator.report(namespace, () => afxdpStatus);
    await operator.forAll((index) => reportAsPlugin(operator, { namespace, index }, { readyDevices: afxdpNics }));
  }
  await untilStates(operator, "specs of all nodes", ({ spec }) => spec?.interfaces?.length === afxdpNics.length);
  await untilIdle(service, run.signal);
}

function stepsOf(operator: OperatorFleet): readonly Step[] {
  const { run, cluster, service, plain, size } = operator;
  const { admin } = cluster;
  const count = size * afxdpNics.length;
  const setLoader = (loader: AfxdpLoader) =>
    admin.merge(objectPath(afxdpOperatorConfigs, configMetadata), { spec: { loader } });
  let confirmations: ReadonlyMap<string, readonly number[]> = new Map();
  return [
    // A row in each node state and an object for each device.
    {
      kind: kinds.load,
      round: 1,
      act: () => setLoader("bpfman"),
      isDone: (writes) => isCount(namesOf(writes), count, "objects are written"),
    },
    {
      kind: kinds.loaded,
      round: 1,
      /** bpfman's agents report the IDs of all programs, which the operator copies to the node states. */
      async act() {
        const all = await admin.list<ClusterBpfApplication>(collectionPath(clusterBpfApplications));
        const own = all.filter(({ metadata }) => !metadata.name.startsWith(plainPrefix));
        await mapConcurrently([...own.entries()], plain.connections, async ([index, application]) => {
          const { object, status } = loadedState(application, index + 1);
          await admin.create(clusterBpfApplicationStates, object);
          await admin.apply("bpfman", clusterBpfApplicationStates, { ...object, status }, "status");
        });
      },
      async isDone() {
        const states = (await statesOf(operator)).filter(hasAllPrograms);
        return isCount(states.length, size, "node states have the IDs of all programs");
      },
    },
    { kind: kinds.restart, round: 1, ...operator.starts },
    {
      kind: kinds.remove,
      round: 1,
      async prepare() {
        await setLoader("builtin");
        await untilStates(operator, "the release of all programs", (state) => {
          return hasAllPrograms(state) && (state.status?.programs ?? []).every(({ release }) => release === true);
        });
        await untilIdle(service, run.signal);
        confirmations = new Map((await statesOf(operator)).map((state) => [state.metadata.name, programsOf(state)]));
      },
      /** The device plugins confirm on all nodes at once that no pod has a device. */
      act: () =>
        operator.forAll((index) => {
          const releasedPrograms = confirmations.get(nodeName(index)) ?? [];
          return reportAsPlugin(operator, { namespace: operatorNamespace, index }, { releasedPrograms });
        }),
      isDone: (writes) =>
        isCount(namesOf(writes.filter(({ verb }) => verb === "delete")), count, "objects are deleted"),
    },
  ];
}

function isCount(found: number, wanted: number, what: string): true | string {
  return found === wanted ? true : `${found} of ${wanted} ${what}`;
}

/** The number of ClusterBpfApplications that are written. */
function namesOf(writes: readonly AuditEvent[]): number {
  const applications = writes.filter(({ objectRef }) => objectRef?.resource === clusterBpfApplications.plural);
  return new Set(applications.map(({ objectRef }) => objectRef?.name)).size;
}

/** Replaces what the device plugin has reported for loader bpfman. */
function reportAsPlugin(
  { cluster: { admin } }: OperatorFleet,
  { namespace, index }: { readonly namespace: string; readonly index: number },
  status: AfxdpBpfmanStatus,
): Promise<string> {
  const state = { metadata: { name: nodeName(index), namespace }, status: { bpfman: status } };
  return admin.apply("device-plugin", afxdpNetworkNodeStates, state, "status");
}

/** Waits until all nodes have a node state, and `isThere` is true for each. */
async function untilStates(
  operator: OperatorFleet,
  what: string,
  isThere: (state: AfxdpNetworkNodeState) => boolean,
): Promise<void> {
  const { signal } = operator.run;
  const areThere = async () => (await statesOf(operator)).filter(isThere).length === operator.size;
  await eventually(what, areThere, { withinMs: 300_000, everyMs: 500, signal });
}

function statesOf({ cluster: { admin } }: OperatorFleet): Promise<readonly AfxdpNetworkNodeState[]> {
  return admin.list<AfxdpNetworkNodeState>(collectionPath(afxdpNetworkNodeStates, operatorNamespace));
}

/** Reports whether the node state has the ID of each device's program. */
function hasAllPrograms(state: AfxdpNetworkNodeState): boolean {
  return programsOf(state).length === afxdpNics.length;
}

/** IDs of the programs. */
function programsOf({ status }: AfxdpNetworkNodeState): readonly number[] {
  return (status?.programs ?? []).flatMap(({ programID }) => programID ?? []);
}

/** The object and the status by which bpfman's agent reports that the program is loaded and attached. */
function loadedState({ metadata, spec }: ClusterBpfApplication, programId: number) {
  const { name, uid = "" } = metadata;
  const { kind } = clusterBpfApplications;
  const owner = { apiVersion: apiVersionOf(clusterBpfApplications), kind, name, uid, controller: true };
  const [interfaceName] = spec.programs[0]?.xdp.links[0]?.interfaceSelector.interfaces ?? [];
  const link = { interfaceName, linkStatus: "Attached", shouldAttach: true, linkId: programId };
  const condition = { type: "Success", reason: "Success", message: "The program has been loaded and attached" };
  return {
    object: { metadata: { name: `${name}-state`, ownerReferences: [owner] } },
    status: {
      appLoadStatus: "LoadSuccess",
      updateCount: 1,
      conditions: [{ ...condition, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      programs: [{ name: "xdp", type: "XDP", programId, xdp: { links: [link] } }],
    },
  };
}
