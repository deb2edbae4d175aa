// SPDX-License-Identifier: Apache-2.0
/**
 * measureStep runs one step of the scenario and measures its cost, first of the operator alone, then of the plain client.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { BenchUser } from "../harness/bench-cluster.ts";
import type { MeasuredService } from "../harness/measured-service.ts";
import { loadBetween, readLoad } from "../harness/machine.ts";
import { untilIdle } from "../harness/process-meter.ts";
import type { Progress } from "../harness/progress.ts";
import { countRequests } from "../harness/request-count.ts";
import { pause, until } from "../harness/run-control.ts";
import type { Fleet } from "./fleet.ts";
import { operatorNamespace, plainNamespace } from "./fleet-objects.ts";
import { titleOf, type StepId, type StepResult } from "./step-result.ts";

/** What the steps of a run share. */
export interface FleetBench {
  readonly fleet: Fleet;
  readonly operator: MeasuredService;
  readonly operatorUser: BenchUser;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export interface Step {
  readonly id: StepId;
  readonly round: number;
  /** Prepares the cluster for the step; not measured. */
  readonly prepare?: () => Promise<void>;
  /** Causes the step. */
  readonly act: () => Promise<void>;
  /** Whether a spec is the expected result of the step; absent if no spec must change. */
  readonly wanted?: (spec: SriovNetworkNodeStateSpec) => boolean;
  /** Whether the step starts a new operator process, whose whole CPU time belongs to the step. */
  readonly startsOperator?: boolean;
}

export async function measureStep(bench: FleetBench, step: Step): Promise<StepResult> {
  const { fleet, operatorUser, progress, signal } = bench;
  const title = titleOf(step);
  await step.prepare?.();
  await fleet.catchUp();
  progress.at(title, () => `${arrived(fleet, operatorNamespace)} of ${fleet.size} nodes`);
  await operatorUser.requests.read();
  const cpuBefore = step.startsOperator === true ? 0 : bench.operator.read().cpuSeconds;
  fleet.arrivals.begin();
  const loadBefore = readLoad();
  const beginMs = performance.now();
  await step.act();
  await (step.wanted === undefined ? pause(noEffectMs, signal) : untilAll(bench, operatorNamespace));
  const load = loadBetween(loadBefore, readLoad());
  const spec = step.wanted && (await settledSpec(step.wanted, bench));
  await untilIdle(bench.operator, signal);

  const { cpuSeconds, rssMb, peakMb } = bench.operator.read();
  const requests = countRequests(await operatorUser.requests.read());
  const arrivals = fleet.arrivals.of(operatorNamespace);
  return {
    id: step.id,
    round: step.round,
    ...(arrivals === undefined
      ? {}
      : { firstSeconds: (arrivals.firstMs - beginMs) / 1000, allSeconds: (arrivals.lastMs - beginMs) / 1000 }),
    specChanges: arrivals?.changes ?? 0,
    load,
    ...(spec === undefined ? {} : await measurePlainly(bench, step, spec)),
    cpuSeconds: cpuSeconds - cpuBefore,
    rssMb,
    peakMb,
    requests,
  };
}

/**
 * Lets the plain client write the same specs while the operator is idle, in a new process if the operator's was new.
 * Returns the seconds until the last spec arrived.
 */
async function measurePlainly(bench: FleetBench, step: Step, spec: SriovNetworkNodeStateSpec) {
  const { fleet, progress } = bench;
  await fleet.catchUp();
  progress.at(`${titleOf(step)}: plain client`, () => `${arrived(fleet, plainNamespace)} of ${fleet.size} nodes`);
  fleet.arrivals.begin();
  const loadBefore = readLoad();
  const beginMs = performance.now();
  await (step.startsOperator === true ? fleet.startPlainly(spec) : fleet.applyPlainly(spec));
  await untilAll(bench, plainNamespace);
  const plainLoad = loadBetween(loadBefore, readLoad());
  return { plainSeconds: ((fleet.arrivals.of(plainNamespace)?.lastMs ?? beginMs) - beginMs) / 1000, plainLoad };
}

/** The spec that all nodes have at the end of the step. */
async function settledSpec(
  wanted: NonNullable<Step["wanted"]>,
  bench: FleetBench,
): Promise<SriovNetworkNodeStateSpec | undefined> {
  let spec: SriovNetworkNodeStateSpec | undefined;
  const isWanted = async () => {
    await untilQuiet(bench);
    spec = await bench.fleet.commonSpec();
    return spec !== undefined && wanted(spec);
  };
  await until("the specs that the policies ask for", isWanted, { withinMs: limitMs(bench), signal: bench.signal });
  return spec;
}

function untilAll(bench: FleetBench, namespace: string): Promise<void> {
  const { fleet, signal } = bench;
  const isThere = () => arrived(fleet, namespace) === fleet.size;
  return until(`specs of all ${fleet.size} nodes`, isThere, { withinMs: limitMs(bench), signal });
}

/** Waits until no spec has changed for a while, because a node may be written twice. */
async function untilQuiet({ fleet, signal }: FleetBench): Promise<void> {
  for (let before = -1; before !== changes(fleet);) {
    before = changes(fleet);
    await pause(quietMs, signal);
  }
}

function limitMs({ fleet }: FleetBench): number {
  return 60_000 + 60 * fleet.size;
}

function arrived(fleet: Fleet, namespace: string): number {
  return fleet.arrivals.of(namespace)?.objects ?? 0;
}

function changes(fleet: Fleet): number {
  return fleet.arrivals.of(operatorNamespace)?.changes ?? 0;
}

const noEffectMs = 3_000;
const quietMs = 700;
