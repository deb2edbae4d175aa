// SPDX-License-Identifier: Apache-2.0
/** measureAfxdp measures the operator with a real API server and a simulated fleet whose nodes have AF_XDP devices. */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  type AfxdpNetworkNodeStateSpec,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { createArrivals, watchArrivals, type Arrivals } from "../fleet/arrivals.ts";
import { applyPlainly, operatorNamespace, plainNamespace } from "../fleet/fleet-objects.ts";
import { createMeasuredOperator } from "../fleet/measured-operator.ts";
import { startBenchCluster, type BenchCluster, type BenchUser } from "../harness/bench-cluster.ts";
import { buildApp } from "../harness/measured-process.ts";
import { loadBetween, readLoad, readMachine } from "../harness/machine.ts";
import type { MeasuredService } from "../harness/measured-service.ts";
import { createPlainClient, type PlainClient } from "../harness/plain-client.ts";
import { untilIdle } from "../harness/process-meter.ts";
import { startProgress, type Progress } from "../harness/progress.ts";
import { countRequests } from "../harness/request-count.ts";
import { pause, startRun, until } from "../harness/run-control.ts";
import { createNodes, forAll, statePath, type AfxdpFleet } from "./afxdp-fleet.ts";
import { afxdpGoals, type AfxdpReport } from "./afxdp-report.ts";
import { afxdpConfig, afxdpPolicy, afxdpStateWithSpec, reportedAfxdpState } from "./afxdp-objects.ts";
import type { AfxdpOptions } from "./afxdp-options.ts";
import { titleOf, type AfxdpStepId, type AfxdpStepResult } from "./afxdp-step-result.ts";

/** What the steps share. */
interface AfxdpBench {
  readonly cluster: BenchCluster;
  readonly operator: MeasuredService;
  readonly operatorUser: BenchUser;
  readonly plain: PlainClient;
  readonly arrivals: Arrivals;
  readonly options: AfxdpOptions;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface AfxdpStep {
  readonly id: AfxdpStepId;
  readonly round: number;
  /** Causes the step. */
  readonly act: () => Promise<unknown>;
  /** Whether all specs for AF_XDP must change. */
  readonly changesSpecs: boolean;
  /** Whether it starts a new operator process, whose whole CPU time belongs to the step. */
  readonly startsOperator?: boolean;
}

/** Rejects with BenchError if the measurement fails. */
export async function measureAfxdp(options: AfxdpOptions): Promise<AfxdpReport> {
  const about = { bench: "afxdp", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  progress.at("building the operator");
  const script = await buildApp("operator");
  using run = startRun();
  const { fail, signal } = run;
  const namespaces = [operatorNamespace, plainNamespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail });
  const operatorUser = await cluster.user("operator");
  using plain = createPlainClient((await cluster.user("plain")).identity, options.connections);
  const arrivals = createArrivals();
  await using _watch = await watchArrivals(cluster.admin, arrivals, fail, afxdpNetworkNodeStates);
  await using operator = createMeasuredOperator({ script, cluster, user: operatorUser, fail });
  const bench: AfxdpBench = { cluster, operator, operatorUser, plain, arrivals, options, progress, signal };
  await createNodes(cluster.admin, fleetOf(bench), progress);
  const steps: AfxdpStepResult[] = [];
  for (const step of stepsOf(bench)) {
    steps.push(await measureStep(bench, step));
    if (step.id !== "report") continue;
    progress.at("writing the same statuses to the plain client's node states");
    await report(bench, plainNamespace);
  }
  await operator.stop();
  const { nodes, connections, rounds } = options;
  return {
    ...about,
    versions: cluster.versions,
    options: { nodes, connections, rounds },
    steps,
    goals: afxdpGoals(steps, options),
    complaints: operator.complaints(),
  };
}

/** Writes the status of all node states of a namespace, as daemons do. */
function report(bench: AfxdpBench, namespace: string): Promise<void> {
  const { admin } = bench.cluster;
  return forAll(fleetOf(bench), (index) => {
    const path = statePath(namespace, index, "status");
    return applyPlainly(admin, "config-daemon", path, reportedAfxdpState(namespace, index));
  });
}

function stepsOf(bench: AfxdpBench): readonly AfxdpStep[] {
  const { cluster, operator, options, signal } = bench;
  const { admin } = cluster;
  const start = () => operator.start(signal);
  const setPolicy = (numSfs: number) => {
    const policy = afxdpPolicy(numSfs);
    return applyPlainly(admin, "user", objectPath(afxdpNetworkNodePolicies, policy.metadata), policy);
  };
  const policies = collectionPath(afxdpNetworkNodePolicies, operatorNamespace);
  const configs = collectionPath(afxdpOperatorConfigs, operatorNamespace);
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1);
  return [
    { id: "off", round: 1, act: start, startsOperator: true, changesSpecs: false },
    {
      id: "config",
      round: 1,
      changesSpecs: true,
      act: () => admin.request({ method: "POST", path: configs, body: afxdpConfig }),
    },
    { id: "report", round: 1, act: () => report(bench, operatorNamespace), changesSpecs: false },
    ...rounds.flatMap((round): readonly AfxdpStep[] => [
      { id: "policy", round, act: () => setPolicy(4), changesSpecs: true },
      { id: "change", round, act: () => setPolicy(8), changesSpecs: true },
      ...(round < options.rounds
        ? []
        : [{ id: "restart", round: 1, act: start, startsOperator: true, changesSpecs: false } as const]),
      { id: "delete", round, act: () => admin.request({ method: "DELETE", path: policies }), changesSpecs: true },
    ]),
  ];
}

async function measureStep(bench: AfxdpBench, step: AfxdpStep): Promise<AfxdpStepResult> {
  const { operator, operatorUser, arrivals, options, progress, signal } = bench;
  const arrived = () => arrivals.of(operatorNamespace)?.objects ?? 0;
  progress.at(titleOf(step), () => (step.changesSpecs ? `${arrived()} of ${options.nodes} nodes` : ""));
  await operatorUser.requests.read();
  const cpuBefore = step.startsOperator === true ? 0 : operator.read().cpuSeconds;
  arrivals.begin();
  const loadBefore = readLoad();
  const beginMs = performance.now();
  await step.act();
  if (step.changesSpecs) await untilAll(bench, operatorNamespace);
  else await pause(noEffectMs, signal);
  const load = loadBetween(loadBefore, readLoad());
  const lastMs = arrivals.of(operatorNamespace)?.lastMs ?? beginMs;
  await untilIdle(operator, signal);
  const { cpuSeconds, rssMb, peakMb } = operator.read();
  const requests = countRequests(await operatorUser.requests.read());
  return {
    id: step.id,
    round: step.round,
    load,
    ...(step.changesSpecs && { seconds: (lastMs - beginMs) / 1000, ...(await measurePlainly(bench, step)) }),
    cpuSeconds: cpuSeconds - cpuBefore,
    rssMb,
    peakMb,
    requests,
  };
}

/** Lets the plain client write the spec of the first node to all of its own node states, while the operator is idle. */
async function measurePlainly(bench: AfxdpBench, step: AfxdpStep) {
  const { plain, arrivals, progress } = bench;
  const spec = await specOfFirstNode(bench);
  progress.at(`${titleOf(step)}: plain client`);
  arrivals.begin();
  const loadBefore = readLoad();
  const beginMs = performance.now();
  await forAll(fleetOf(bench), (index) =>
    applyPlainly(plain, "plain", statePath(plainNamespace, index), afxdpStateWithSpec(plainNamespace, index, spec)),
  );
  await untilAll(bench, plainNamespace);
  const plainLoad = loadBetween(loadBefore, readLoad());
  return { plainSeconds: ((arrivals.of(plainNamespace)?.lastMs ?? beginMs) - beginMs) / 1000, plainLoad };
}

async function specOfFirstNode({ cluster: { admin } }: AfxdpBench): Promise<AfxdpNetworkNodeStateSpec> {
  const state: unknown = JSON.parse(await admin.request({ method: "GET", path: statePath(operatorNamespace, 0) }));
  return isRecord(state) && isRecord(state["spec"]) ? state["spec"] : {};
}

function untilAll({ arrivals, options, signal }: AfxdpBench, namespace: string): Promise<void> {
  const isThere = () => arrivals.of(namespace)?.objects === options.nodes;
  const withinMs = 60_000 + 60 * options.nodes;
  return until(`specs of all ${options.nodes} nodes`, isThere, { withinMs, signal });
}

function fleetOf({ options: { nodes, connections }, signal }: AfxdpBench): AfxdpFleet {
  return { nodes, connections, signal };
}

const noEffectMs = 3_000;
