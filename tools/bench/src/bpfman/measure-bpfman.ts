// SPDX-License-Identifier: Apache-2.0
/**
 * measureBpfman measures the operator with a real API server and a simulated fleet whose AF_XDP programs bpfman loads. The
 * harness writes what the daemons, the device plugins and bpfman's agents of the nodes would write.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  operatorConfigName,
  type AfxdpBpfmanStatus,
  type AfxdpLoader,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateStatus,
  type ClusterBpfApplication,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { bpfmanCrds } from "@switchyard/testing";
import { createNodes, forAll, statePath, type AfxdpFleet } from "../afxdp/afxdp-fleet.ts";
import { afxdpConfig, afxdpNodeState, reportedAfxdpState } from "../afxdp/afxdp-objects.ts";
import { applyPlainly, nodeName, operatorNamespace, plainNamespace } from "../fleet/fleet-objects.ts";
import { createMeasuredOperator } from "../fleet/measured-operator.ts";
import { watchStates } from "../fleet/watch-states.ts";
import { BenchError, pause, startRun, until } from "../harness/run-control.ts";
import { startBenchCluster, type BenchUser } from "../harness/bench-cluster.ts";
import { buildApp } from "../harness/measured-process.ts";
import { readMachine } from "../harness/machine.ts";
import type { MeasuredService } from "../harness/measured-service.ts";
import { createPlainClient, inParallel, type PlainClient } from "../harness/plain-client.ts";
import { untilIdle } from "../harness/process-meter.ts";
import { startProgress, type Progress } from "../harness/progress.ts";
import { countRequests } from "../harness/request-count.ts";
import { bpfmanGoals, bpfmanStepTitles, type BpfmanReport, type BpfmanStepResult } from "./bpfman-report.ts";
import {
  devicesPolicy,
  loadedState,
  plainApplication,
  plainApplicationName,
  plainPrefix,
  readyDevices,
  stateWithStatus,
} from "./bpfman-objects.ts";
import type { BpfmanOptions } from "./bpfman-options.ts";

/** What the steps share. */
interface BpfmanBench {
  readonly admin: PlainClient;
  readonly plain: PlainClient;
  readonly operator: MeasuredService;
  readonly operatorUser: BenchUser;
  /** Names of the ClusterBpfApplications that exist, of the operator and of the plain client. */
  readonly applications: Readonly<Record<"operator" | "plain", Set<string>>>;
  readonly fleet: AfxdpFleet;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

const devicesOfNode = [...readyDevices.keys()];

/** Rejects with BenchError if the measurement fails. */
export async function measureBpfman(options: BpfmanOptions): Promise<BpfmanReport> {
  const about = { bench: "bpfman", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  progress.at("building the operator");
  const script = await buildApp("operator");
  using run = startRun();
  const { fail, signal } = run;
  const namespaces = [operatorNamespace, plainNamespace];
  await using cluster = await startBenchCluster({ namespaces, crds: [bpfmanCrds("0.6")], progress, fail });
  const { admin } = cluster;
  const operatorUser = await cluster.user("operator");
  using plain = createPlainClient((await cluster.user("plain")).identity, options.connections);
  const applications = { operator: new Set<string>(), plain: new Set<string>() };
  await using _watch = await watchStates(admin, {
    type: clusterBpfApplications,
    take(event, { name }) {
      const names = String(name).startsWith(plainPrefix) ? applications.plain : applications.operator;
      if (event === "DELETED") names.delete(String(name));
      else names.add(String(name));
    },
    fail,
  });
  await using operator = createMeasuredOperator({ script, cluster, user: operatorUser, fail });
  const { nodes, connections } = options;
  const fleet = { nodes, connections, signal };
  const bench: BpfmanBench = { admin, plain, operator, operatorUser, applications, fleet, progress, signal };
  await prepare(bench);
  const builtinPeakMb = operator.read().peakMb;
  const steps = [await load(bench), await reportLoaded(bench), await restart(bench), await remove(bench)];
  await operator.stop();
  const report = { steps, builtinPeakMb, options: { nodes, connections } };
  return {
    ...about,
    versions: cluster.versions,
    ...report,
    goals: bpfmanGoals(report),
    complaints: operator.complaints(),
  };
}

/** Creates the nodes with their reports and a policy, and waits until the operator has done everything for loader builtin. */
async function prepare(bench: BpfmanBench): Promise<void> {
  const { admin, operator, fleet, progress, signal } = bench;
  await createNodes(admin, fleet, progress);
  for (const [type, body] of [
    [afxdpOperatorConfigs, afxdpConfig],
    [afxdpNetworkNodePolicies, devicesPolicy],
  ] as const) {
    await admin.request({ method: "POST", path: collectionPath(type, operatorNamespace), body });
  }
  progress.at("starting the operator");
  await operator.start(signal);
  await untilStates(bench, "node states of all nodes", () => true);
  progress.at("all daemons report");
  await forAll(fleet, async (index) => {
    await applyPlainly(admin, "plain", statePath(plainNamespace, index), afxdpNodeState(plainNamespace, index));
    for (const namespace of [operatorNamespace, plainNamespace]) {
      const report = reportedAfxdpState(namespace, index);
      await applyPlainly(admin, "config-daemon", statePath(namespace, index, "status"), report);
      await reportAsPlugin(bench, { namespace, index }, { readyDevices });
    }
  });
  await untilStates(bench, "specs of all nodes", ({ spec }) => spec?.interfaces?.length === devicesOfNode.length);
  await untilIdle(operator, signal);
}

/** bpfman becomes the loader: a row in each node state and an object for each device. */
async function load(bench: BpfmanBench): Promise<BpfmanStepResult> {
  const { plain, fleet } = bench;
  const all = fleet.nodes * devicesOfNode.length;
  const result = await measure(bench, "load", async () => {
    await setLoader(bench, "bpfman");
    await untilCount(bench, "operator", all);
  });
  const [first] = await listApplications(bench);
  if (first === undefined) throw new BenchError("ended", "the operator has removed its objects again");
  const { programs = [] } = await statusOfFirstNode(bench);
  const plainSeconds = await measurePlainly(bench, "load", async () => {
    await forAll(fleet, async (index) => {
      await writePlainStatus(bench, index, { programs });
      for (const device of devicesOfNode) {
        const object = plainApplication(first, index, device);
        await applyPlainly(plain, "plain", applicationPath(object.metadata.name), object);
      }
    });
    await untilCount(bench, "plain", all);
  });
  return { ...result, plainSeconds };
}

/** bpfman's agents report the IDs of all programs, which the operator copies to the node states. */
async function reportLoaded(bench: BpfmanBench): Promise<BpfmanStepResult> {
  const { admin, fleet } = bench;
  const applications = await listApplications(bench);
  const { seconds: _, ...result } = await measure(bench, "loaded", async () => {
    await inParallel([...applications.entries()], fleet.connections, async ([index, application]) => {
      const { object, status } = loadedState(application, index + 1);
      await admin.request({ method: "POST", path: collectionPath(clusterBpfApplicationStates), body: object });
      const path = objectPath(clusterBpfApplicationStates, object.metadata, "status");
      await applyPlainly(admin, "bpfman", path, { ...object, status });
    });
    await untilStates(bench, "the IDs of all programs", hasAllPrograms);
  });
  return result;
}

/** A new process, whose whole CPU time belongs to the step. */
async function restart(bench: BpfmanBench): Promise<BpfmanStepResult> {
  const { operator, signal } = bench;
  const { seconds: _, ...result } = await measure(bench, "restart", async () => {
    await operator.start(signal);
    await pause(noEffectMs, signal);
  });
  return { ...result, cpuSeconds: operator.read().cpuSeconds };
}

/** The device plugin becomes the loader again, and confirms on all nodes at once that no pod has a device. */
async function remove(bench: BpfmanBench): Promise<BpfmanStepResult> {
  const { plain, operator, fleet, signal } = bench;
  await setLoader(bench, "builtin");
  const isReleased = (state: AfxdpNetworkNodeState) =>
    hasAllPrograms(state) && (state.status?.programs ?? []).every(({ release }) => release === true);
  await untilStates(bench, "the release of all programs", isReleased);
  await untilIdle(operator, signal);
  const confirmations = new Map(
    (await listStates(bench)).map(({ metadata, status }) => [metadata.name, programsOf(status)] as const),
  );
  const confirmation = (index: number) => ({ releasedPrograms: confirmations.get(nodeName(index)) ?? [] });
  const result = await measure(bench, "remove", async () => {
    await forAll(fleet, (index) => reportAsPlugin(bench, { namespace: operatorNamespace, index }, confirmation(index)));
    await untilCount(bench, "operator", 0);
  });
  const plainSeconds = await measurePlainly(bench, "remove", async () => {
    await forAll(fleet, async (index) => {
      await writePlainStatus(bench, index, { bpfman: confirmation(index) });
      for (const device of devicesOfNode) {
        await plain.request({ method: "DELETE", path: applicationPath(plainApplicationName(index, device)) });
      }
    });
    await untilCount(bench, "plain", 0);
  });
  return { ...result, plainSeconds };
}

async function measure(
  { operator, operatorUser, applications, progress, signal }: BpfmanBench,
  id: BpfmanStepResult["id"],
  act: () => Promise<void>,
): Promise<BpfmanStepResult> {
  progress.at(bpfmanStepTitles[id], () => `${applications.operator.size} objects`);
  await operatorUser.requests.read();
  const cpuBefore = operator.read().cpuSeconds;
  const beginMs = performance.now();
  await act();
  const seconds = (performance.now() - beginMs) / 1000;
  await untilIdle(operator, signal);
  const { cpuSeconds, rssMb, peakMb } = operator.read();
  const requests = countRequests(await operatorUser.requests.read());
  return { id, seconds, cpuSeconds: cpuSeconds - cpuBefore, rssMb, peakMb, requests };
}

/** Returns the seconds of the plain client, which works while the operator is idle. */
async function measurePlainly(
  { applications, progress }: BpfmanBench,
  id: BpfmanStepResult["id"],
  act: () => Promise<void>,
): Promise<number> {
  progress.at(`${bpfmanStepTitles[id]}: plain client`, () => `${applications.plain.size} objects`);
  const beginMs = performance.now();
  await act();
  return (performance.now() - beginMs) / 1000;
}

/** Replaces what the device plugin has reported for loader bpfman. */
function reportAsPlugin(
  { admin }: BpfmanBench,
  { namespace, index }: { readonly namespace: string; readonly index: number },
  bpfman: AfxdpBpfmanStatus,
): Promise<string> {
  const body = stateWithStatus(namespace, index, { bpfman });
  return applyPlainly(admin, "device-plugin", statePath(namespace, index, "status"), body);
}

function setLoader({ admin }: BpfmanBench, loader: AfxdpLoader): Promise<string> {
  const path = objectPath(afxdpOperatorConfigs, { name: operatorConfigName, namespace: operatorNamespace });
  const contentType = "application/merge-patch+json";
  return admin.request({ method: "PATCH", path, contentType, body: { spec: { loader } } });
}

function writePlainStatus({ plain }: BpfmanBench, index: number, status: AfxdpNetworkNodeStateStatus): Promise<string> {
  const body = stateWithStatus(plainNamespace, index, status);
  return applyPlainly(plain, "plain", statePath(plainNamespace, index, "status"), body);
}

function untilCount({ applications, signal }: BpfmanBench, of: "operator" | "plain", count: number): Promise<void> {
  const areThere = () => applications[of].size === count;
  return until(`${count} ClusterBpfApplications`, areThere, { withinMs: longMs, signal });
}

/** Waits until all nodes have a node state, and `isThere` is true for each. */
function untilStates(
  bench: BpfmanBench,
  what: string,
  isThere: (state: AfxdpNetworkNodeState) => boolean,
): Promise<void> {
  const ask = async () => {
    const states = await listStates(bench);
    return states.length === bench.fleet.nodes && states.every(isThere);
  };
  return until(what, ask, { withinMs: longMs, everyMs: 500, signal: bench.signal });
}

async function statusOfFirstNode({ admin }: BpfmanBench): Promise<AfxdpNetworkNodeStateStatus> {
  const text = await admin.request({ method: "GET", path: statePath(operatorNamespace, 0) });
  return (JSON.parse(text) as AfxdpNetworkNodeState).status ?? {};
}

async function listStates({ admin }: BpfmanBench): Promise<readonly AfxdpNetworkNodeState[]> {
  const path = collectionPath(afxdpNetworkNodeStates, operatorNamespace);
  return (JSON.parse(await admin.request({ method: "GET", path })) as { items: readonly AfxdpNetworkNodeState[] })
    .items;
}

/** Those of the operator. */
async function listApplications({ admin }: BpfmanBench): Promise<readonly ClusterBpfApplication[]> {
  const text = await admin.request({ method: "GET", path: collectionPath(clusterBpfApplications) });
  const { items } = JSON.parse(text) as { items: readonly ClusterBpfApplication[] };
  return items.filter(({ metadata }) => !metadata.name.startsWith(plainPrefix));
}

/** Reports whether the node state has the ID of each device's program. */
function hasAllPrograms({ status }: AfxdpNetworkNodeState): boolean {
  return programsOf(status).length === devicesOfNode.length;
}

/** IDs of the programs. */
function programsOf(status: AfxdpNetworkNodeStateStatus | undefined): readonly number[] {
  return (status?.programs ?? []).flatMap(({ programID }) => programID ?? []);
}

function applicationPath(name: string): string {
  return objectPath(clusterBpfApplications, { name });
}

const noEffectMs = 3_000;
const longMs = 300_000;
