// SPDX-License-Identifier: Apache-2.0
/**
 * The operator with a real API server and a simulated fleet whose AF_XDP programs bpfman loads. The harness writes what the
 * daemons, the device plugins and bpfman's agents of the nodes would write.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  bpfmanApiVersion,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  operatorConfigName,
  type AfxdpBpfmanStatus,
  type AfxdpLoader,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpNetworkNodeStateStatus,
  type ClusterBpfApplication,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { bpfmanCrds } from "@switchyard/testing";
import {
  afxdpApiVersion,
  afxdpConfig,
  afxdpDriver,
  afxdpKind,
  afxdpState,
  reportedAfxdpState,
} from "../cluster/afxdp-nodes.ts";
import { startBenchCluster, type ClusterService } from "../cluster/bench-cluster.ts";
import { createOperator } from "../cluster/measured-operator.ts";
import { nodeName, operatorNamespace, plainNamespace } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { createFleet, type SimulatedFleet } from "../cluster/simulated-fleet.ts";
import { watchStates } from "../cluster/arrivals.ts";
import { atMost, showMb } from "../harness/report.ts";
import { sharedOptions } from "../harness/options.ts";
import { untilIdle } from "../harness/proc.ts";
import { total, withoutLeases } from "../harness/requests.ts";
import { BenchError, pause, until, type Run } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { measureCost, measurePlainly, plainGoals, stepTable, type StepResult } from "../harness/step.ts";

const titles = {
  load: "loader bpfman, objects for all devices",
  loaded: "bpfman reports all programs",
  restart: "restart, converged",
  remove: "loader builtin, all devices confirmed",
} as const;

export type BpfmanStepId = keyof typeof titles;

type Step = StepResult<BpfmanStepId>;

export interface BpfmanFigures extends CommonFigures {
  /** The largest RSS of the operator with all policies and loader builtin. */
  readonly builtinPeakMb: number;
  readonly steps: readonly Step[];
}

export const bpfman = defineScenario({
  name: "bpfman",
  summary: "the operator with 2,000 AF_XDP devices whose programs bpfman loads",
  about: `Measures the operator with a real API server and a simulated fleet whose AF_XDP programs bpfman loads. The baseline is a plain
client that writes the same objects in the same run.`,
  options: {
    nodes: { help: "number of nodes, each with two devices", count: 1000, quick: 10, range: [1, 65_536] },
    connections: sharedOptions.connections,
    cpuProf: sharedOptions.cpuProf,
  },

  async measure(options, run): Promise<BpfmanFigures> {
    const namespaces = [operatorNamespace, plainNamespace];
    const cluster = await startBenchCluster(run, { namespaces, crds: [bpfmanCrds("0.6")] });
    const { admin } = cluster;
    const applications = { operator: new Set<string>(), plain: new Set<string>() };
    const watched = await watchStates(admin, {
      type: clusterBpfApplications,
      take(event, { name }) {
        const names = String(name).startsWith(plainPrefix) ? applications.plain : applications.operator;
        if (event === "DELETED") names.delete(String(name));
        else names.add(String(name));
      },
      fail: run.fail,
    });
    run.use(watched);
    const operator = await createOperator(run, cluster, options);
    const fleet = await createFleet(run, cluster, afxdpKind, options);
    const bench: BpfmanBench = { admin, plain: fleet.plain, operator, applications, fleet, run };
    await prepare(bench);
    const builtinPeakMb = operator.read().peakMb;
    const steps = [await load(bench), await reportLoaded(bench), await restart(bench), await remove(bench)];
    return { ...(await cluster.end(operator)), builtinPeakMb, steps };
  },

  /** The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates. */
  goals({ steps, builtinPeakMb }, { nodes }) {
    const peakMb = Math.max(...steps.map((step) => step.peakMb));
    const restarted = steps.find(({ id }) => id === "restart");
    const waitSeconds = { load: 0, remove: 0 };
    return [
      ...plainGoals(nodes < 1000 ? [] : steps, { titles, timesPlain: 1.25, waitSeconds }),
      atMost(`${titles.restart}, writes`, restarted && total(withoutLeases(restarted.requests.writes)), 0, ""),
      atMost("peak RSS more than with loader builtin", peakMb - builtinPeakMb, 20, "MB"),
    ];
  },

  render: ({ steps, builtinPeakMb }, { nodes, connections }) => [
    `operator, ${nodes} nodes with two AF_XDP devices each`,
    `Plain client: writes the same objects and statuses over ${connections} connections`,
    `Peak RSS with loader builtin: ${showMb(builtinPeakMb)}`,
    "",
    stepTable(titles, steps),
  ],
});

/** What the steps share. */
interface BpfmanBench {
  readonly admin: PlainClient;
  readonly plain: PlainClient;
  readonly operator: ClusterService;
  /** Names of the ClusterBpfApplications that exist, of the operator and of the plain client. */
  readonly applications: Readonly<Record<"operator" | "plain", Set<string>>>;
  readonly fleet: SimulatedFleet<AfxdpNetworkNodeStateSpec>;
  readonly run: Run;
}

/** Writes the reports of the nodes and a policy, and waits until the operator has done everything for loader builtin. */
async function prepare(bench: BpfmanBench): Promise<void> {
  const { admin, operator, fleet, run } = bench;
  await admin.create(afxdpOperatorConfigs, afxdpConfig);
  await admin.create(afxdpNetworkNodePolicies, devicesPolicy);
  run.progress.at("starting the operator");
  await operator.start(run.signal);
  await untilStates(bench, "node states of all nodes", () => true);
  run.progress.at("all daemons report");
  await fleet.forAll(async (index) => {
    await admin.apply("plain", afxdpNetworkNodeStates, afxdpState(plainNamespace, index));
    for (const namespace of [operatorNamespace, plainNamespace]) {
      await admin.apply("config-daemon", afxdpNetworkNodeStates, reportedAfxdpState(namespace, index), "status");
      await reportAsPlugin(bench, { namespace, index }, { readyDevices });
    }
  });
  await untilStates(bench, "specs of all nodes", ({ spec }) => spec?.interfaces?.length === readyDevices.length);
  await untilIdle(operator, run.signal);
}

/** bpfman becomes the loader: a row in each node state and an object for each device. */
async function load(bench: BpfmanBench): Promise<Step> {
  const { plain, fleet } = bench;
  const all = fleet.size * readyDevices.length;
  const result = await measure(bench, "load", async () => {
    await setLoader(bench, "bpfman");
    await untilCount(bench, "operator", all);
  });
  const [first] = await listApplications(bench);
  if (first === undefined) throw new BenchError("ended", "the operator has removed its objects again");
  const { programs = [] } = await statusOfFirstNode(bench);
  const plainly = await measureAgain(bench, "load", async () => {
    await fleet.forAll(async (index) => {
      await writePlainStatus(bench, index, { programs });
      for (const device of readyDevices.keys())
        await plain.apply("plain", clusterBpfApplications, plainApplication(first, index, device));
    });
    await untilCount(bench, "plain", all);
  });
  return { ...result, ...plainly };
}

/** bpfman's agents report the IDs of all programs, which the operator copies to the node states. */
async function reportLoaded(bench: BpfmanBench): Promise<Step> {
  const { admin, fleet } = bench;
  const applications = await listApplications(bench);
  const { seconds: _, ...result } = await measure(bench, "loaded", async () => {
    await mapConcurrently([...applications.entries()], fleet.connections, async ([index, application]) => {
      const { object, status } = loadedState(application, index + 1);
      await admin.create(clusterBpfApplicationStates, object);
      await admin.apply("bpfman", clusterBpfApplicationStates, { ...object, status }, "status");
    });
    await untilStates(bench, "the IDs of all programs", hasAllPrograms);
  });
  return result;
}

/** A new process, whose whole CPU time belongs to the step. */
async function restart(bench: BpfmanBench): Promise<Step> {
  const { operator, run } = bench;
  const { seconds: _, ...result } = await measure(bench, "restart", async () => {
    await operator.start(run.signal);
    await pause(noEffectMs, run.signal);
  });
  return result;
}

/** The device plugin becomes the loader again, and confirms on all nodes at once that no pod has a device. */
async function remove(bench: BpfmanBench): Promise<Step> {
  const { plain, operator, fleet, run } = bench;
  await setLoader(bench, "builtin");
  const isReleased = (state: AfxdpNetworkNodeState) =>
    hasAllPrograms(state) && (state.status?.programs ?? []).every(({ release }) => release === true);
  await untilStates(bench, "the release of all programs", isReleased);
  await untilIdle(operator, run.signal);
  const states = await listStates(bench);
  const confirmations = new Map(states.map(({ metadata, status }) => [metadata.name, programsOf(status)] as const));
  const confirmation = (index: number) => ({ releasedPrograms: confirmations.get(nodeName(index)) ?? [] });
  const result = await measure(bench, "remove", async () => {
    await fleet.forAll((index) => reportAsPlugin(bench, { namespace: operatorNamespace, index }, confirmation(index)));
    await untilCount(bench, "operator", 0);
  });
  const plainly = await measureAgain(bench, "remove", async () => {
    await fleet.forAll(async (index) => {
      await writePlainStatus(bench, index, { bpfman: confirmation(index) });
      for (const device of readyDevices.keys())
        await plain.delete(objectPath(clusterBpfApplications, { name: plainApplicationName(index, device) }));
    });
    await untilCount(bench, "plain", 0);
  });
  return { ...result, ...plainly };
}

async function measure(
  { operator, applications, run }: BpfmanBench,
  id: BpfmanStepId,
  act: () => Promise<void>,
): Promise<Step> {
  run.progress.at(titles[id], () => `${applications.operator.size} objects`);
  const beginMs = performance.now();
  const timed = async () => {
    await act();
    return (performance.now() - beginMs) / 1000;
  };
  const options = { signal: run.signal, startsProcess: id === "restart" };
  const { outcome: seconds, load: used, cost } = await measureCost(operator, timed, options);
  return { id, round: 1, seconds, load: used, ...cost };
}

/** The plain client works while the operator is idle. */
function measureAgain({ applications, run }: BpfmanBench, id: BpfmanStepId, act: () => Promise<void>) {
  run.progress.at(`${titles[id]}: plain client`, () => `${applications.plain.size} objects`);
  return measurePlainly(act);
}

/** Replaces what the device plugin has reported for loader bpfman. */
function reportAsPlugin(
  { admin }: BpfmanBench,
  { namespace, index }: { readonly namespace: string; readonly index: number },
  status: AfxdpBpfmanStatus,
): Promise<string> {
  const state = { ...afxdpState(namespace, index), status: { bpfman: status } };
  return admin.apply("device-plugin", afxdpNetworkNodeStates, state, "status");
}

function setLoader({ admin }: BpfmanBench, loader: AfxdpLoader): Promise<string> {
  const path = objectPath(afxdpOperatorConfigs, { name: operatorConfigName, namespace: operatorNamespace });
  return admin.merge(path, { spec: { loader } });
}

function writePlainStatus({ plain }: BpfmanBench, index: number, status: AfxdpNetworkNodeStateStatus): Promise<string> {
  return plain.apply("plain", afxdpNetworkNodeStates, { ...afxdpState(plainNamespace, index), status }, "status");
}

function untilCount({ applications, run }: BpfmanBench, of: "operator" | "plain", count: number): Promise<void> {
  const areThere = () => applications[of].size === count;
  return until(`${count} ClusterBpfApplications`, areThere, { withinMs: longMs, signal: run.signal });
}

/** Waits until all nodes have a node state, and `isThere` is true for each. */
function untilStates(
  bench: BpfmanBench,
  what: string,
  isThere: (state: AfxdpNetworkNodeState) => boolean,
): Promise<void> {
  const ask = async () => {
    const states = await listStates(bench);
    return states.length === bench.fleet.size && states.every(isThere);
  };
  return until(what, ask, { withinMs: longMs, everyMs: 500, signal: bench.run.signal });
}

async function statusOfFirstNode({ admin, fleet }: BpfmanBench): Promise<AfxdpNetworkNodeStateStatus> {
  return ((await admin.get(fleet.path(operatorNamespace, 0))) as AfxdpNetworkNodeState).status ?? {};
}

async function listStates({ admin }: BpfmanBench): Promise<readonly AfxdpNetworkNodeState[]> {
  const list = await admin.get(collectionPath(afxdpNetworkNodeStates, operatorNamespace));
  return (list as { items: readonly AfxdpNetworkNodeState[] }).items;
}

/** Those of the operator. */
async function listApplications({ admin }: BpfmanBench): Promise<readonly ClusterBpfApplication[]> {
  const { items } = (await admin.get(collectionPath(clusterBpfApplications))) as {
    items: readonly ClusterBpfApplication[];
  };
  return items.filter(({ metadata }) => !metadata.name.startsWith(plainPrefix));
}

/** Reports whether the node state has the ID of each device's program. */
function hasAllPrograms({ status }: AfxdpNetworkNodeState): boolean {
  return programsOf(status).length === readyDevices.length;
}

/** IDs of the programs. */
function programsOf(status: AfxdpNetworkNodeStateStatus | undefined): readonly number[] {
  return (status?.programs ?? []).flatMap(({ programID }) => programID ?? []);
}

const noEffectMs = 3_000;
const longMs = 300_000;

/** A policy that offers both NICs of all nodes as devices. */
const devicesPolicy: AfxdpNetworkNodePolicy = {
  apiVersion: afxdpApiVersion,
  kind: "AfxdpNetworkNodePolicy",
  metadata: { name: "all", namespace: operatorNamespace },
  spec: { poolName: "fast", mode: "primary", nodeSelector: {}, nicSelector: { driver: afxdpDriver } },
};

/** Addresses of both NICs, to which bpfman may attach programs. */
const readyDevices = ["0000:3b:00.0", "0000:3b:00.1"];

/** The object without what the API server adds, under a name of the plain client, and without the operator's mark. */
function plainApplication({ spec }: ClusterBpfApplication, index: number, device: number) {
  const name = plainApplicationName(index, device);
  const annotations = { "plain.example.com/node": nodeName(index), "plain.example.com/device": readyDevices[device] };
  const metadata = { name, labels: { "plain.example.com/made-by": "bench" }, annotations };
  return { apiVersion: bpfmanApiVersion, kind: clusterBpfApplications.kind, metadata, spec };
}

function plainApplicationName(index: number, device: number): string {
  return `${plainPrefix}${index}-${device}`;
}

const plainPrefix = "plain-";

/** The object and the status by which bpfman's agent reports that the program is loaded and attached. */
function loadedState({ metadata, spec }: ClusterBpfApplication, programId: number) {
  const { name, uid = "" } = metadata;
  const owner = { apiVersion: bpfmanApiVersion, kind: clusterBpfApplications.kind, name, uid, controller: true };
  const [interfaceName] = spec.programs[0]?.xdp.links[0]?.interfaceSelector.interfaces ?? [];
  const link = { interfaceName, linkStatus: "Attached", shouldAttach: true, linkId: programId };
  const condition = { type: "Success", reason: "Success", message: "The program has been loaded and attached" };
  return {
    object: {
      apiVersion: bpfmanApiVersion,
      kind: clusterBpfApplicationStates.kind,
      metadata: { name: `${name}-state`, ownerReferences: [owner] },
    },
    status: {
      appLoadStatus: "LoadSuccess",
      updateCount: 1,
      conditions: [{ ...condition, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      programs: [{ name: "xdp", type: "XDP", programId, xdp: { links: [link] } }],
    },
  };
}
