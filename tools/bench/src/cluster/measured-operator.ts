// SPDX-License-Identifier: Apache-2.0
/** The operator as a measured service, and the cost of the steps in which it writes the specs of node states. */
import { minSemiSpaceFlag } from "@switchyard/service/memory";
import { buildApp } from "../harness/service.ts";
import { pause, until, type Run } from "../harness/run.ts";
import { measureCost, measurePlainly, titleOf, type StepResult, type Titles } from "../harness/step.ts";
import type { BenchCluster, ClusterService } from "./bench-cluster.ts";
import { operatorNamespace, plainNamespace } from "./nodes.ts";
import { limitMs, type SimulatedFleet } from "./simulated-fleet.ts";

interface OperatorOptions {
  readonly cpuProf?: string | undefined;
  readonly flags?: readonly string[];
}

/** The operator does not deploy a component without an image. No kubelet is running, so no image is pulled. */
const images = [
  ...["config-daemon", "device-plugin-config", "device-plugin", "webhook", "injector", "metrics-exporter"],
  ...["kube-rbac-proxy", "sriov-cni", "ib-sriov-cni", "ovs-cni", "rdma-cni", "accelerated-bridge-cni"],
];

/** Builds the operator, which does not run yet. */
export async function createOperator(
  { progress }: Run,
  cluster: BenchCluster,
  { cpuProf, flags = [] }: OperatorOptions = {},
): Promise<ClusterService> {
  progress.at("building the operator");
  return cluster.service("operator", {
    script: await buildApp("operator"),
    // As in its container. Without them the program restarts itself (libs/service/src/memory.ts), which takes 50 ms.
    nodeFlags: [minSemiSpaceFlag],
    env: { MALLOC_ARENA_MAX: "1" },
    cpuProf,
    args: [
      ...["--namespace", operatorNamespace],
      ...images.flatMap((name) => [`--${name}-image`, `registry.example/${name}:1`]),
      ...flags,
    ],
  });
}

/** What the steps of a run share. */
export interface OperatorBench<Id extends string, Spec extends object> {
  readonly run: Run;
  readonly fleet: SimulatedFleet<Spec>;
  readonly operator: ClusterService;
  readonly titles: Titles<Id>;
}

export interface OperatorStep<Id extends string, Spec extends object> {
  readonly id: Id;
  readonly round: number;
  /** Prepares the cluster for the step; not measured. */
  readonly prepare?: () => Promise<unknown>;
  /** Causes the step. */
  readonly act: () => Promise<unknown>;
  /** Whether a spec is the expected result of the step; absent if no spec must change. */
  readonly wanted?: (spec: Spec) => boolean;
  /** Whether the step starts a new operator process. */
  readonly startsProcess?: boolean;
  /** Writes the same specs as the step; the plain client of this process by default. */
  readonly writePlainly?: (spec: Spec) => Promise<unknown>;
}

/** Measures a step, first of the operator alone, then of the plain client while the operator is idle. */
export async function measureOperatorStep<Id extends string, Spec extends object>(
  { run, fleet, operator, titles }: OperatorBench<Id, Spec>,
  step: OperatorStep<Id, Spec>,
): Promise<StepResult<Id>> {
  const { id, round, wanted, startsProcess, writePlainly = (spec) => fleet.writePlainly(spec) } = step;
  const { arrivals } = fleet;
  const { signal } = run;
  const title = titleOf(titles, step);
  await step.prepare?.();
  await fleet.catchUp();
  run.progress.at(title, () => (wanted === undefined ? "" : fleet.arrived(operatorNamespace)));
  arrivals.begin();
  const beginMs = performance.now();
  const act = async () => {
    await step.act();
    await (wanted === undefined ? pause(noEffectMs, signal) : fleet.untilAll(operatorNamespace));
  };
  let spec: Spec | undefined;
  const settle = async () => {
    if (wanted !== undefined) spec = await settledSpec(fleet, wanted, signal);
  };
  const { load, cost } = await measureCost(operator, act, { signal, startsProcess, settle });
  const arrived = arrivals.of(operatorNamespace);
  const since = (ms: number) => (ms - beginMs) / 1000;
  const times = arrived && { firstSeconds: since(arrived.firstMs), seconds: since(arrived.lastMs) };
  const result = { id, round, load, ...cost, specChanges: arrived?.changes ?? 0, ...times };
  if (spec === undefined) return result;

  const common = spec;
  await fleet.catchUp();
  run.progress.at(`${title}: plain client`, () => fleet.arrived(plainNamespace));
  arrivals.begin();
  const plainly = async () => {
    await writePlainly(common);
    await fleet.untilAll(plainNamespace);
    return arrivals.of(plainNamespace)?.lastMs;
  };
  return { ...result, ...(await measurePlainly(plainly)) };
}

/** The spec that all nodes have at the end of the step. */
async function settledSpec<Spec extends object>(
  fleet: SimulatedFleet<Spec>,
  wanted: (spec: Spec) => boolean,
  signal: AbortSignal,
): Promise<Spec | undefined> {
  const changes = () => fleet.arrivals.of(operatorNamespace)?.changes ?? 0;
  let spec: Spec | undefined;
  const isWanted = async () => {
    // A node may be written twice.
    for (let before = -1; before !== changes();) {
      before = changes();
      await pause(quietMs, signal);
    }
    spec = await fleet.commonSpec();
    return spec !== undefined && wanted(spec);
  };
  await until("the specs that the policies ask for", isWanted, { withinMs: limitMs(fleet.size), signal });
  return spec;
}

const noEffectMs = 3_000;
const quietMs = 700;
