// SPDX-License-Identifier: Apache-2.0
/**
 * Runs one step of the scenario and notes what it cost: first the operator alone, then the plain client alone.
 * Usage: `results.push(await measureStep(bench, { id: "first-policy", round: 1, act, wanted }))`
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "../bench-error.ts";
import type { BenchUser } from "../cluster/bench-cluster.ts";
import { untilIdle } from "../measure/process-meter.ts";
import type { Progress } from "../measure/progress.ts";
import { countRequests } from "../measure/request-count.ts";
import type { Fleet } from "./fleet.ts";
import { operatorNamespace, plainNamespace } from "./fleet-objects.ts";
import type { OperatorProcess } from "./operator-process.ts";
import { titleOf, type StepId, type StepResult } from "./step-result.ts";

/** What a run has. The operator changes with a restart. */
export interface FleetBench {
  readonly fleet: Fleet;
  readonly operator: () => OperatorProcess;
  readonly operatorUser: BenchUser;
  /** Rejects when something that must live ends. */
  readonly failed: () => Promise<never>;
  readonly progress: Progress;
}

export interface Step {
  readonly id: StepId;
  readonly round: number;
  /** Causes it. */
  readonly act: () => Promise<void>;
  /** Whether a spec is what the step shall lead to; absent where no spec shall change. */
  readonly wanted?: (spec: SriovNetworkNodeStateSpec) => boolean;
  /** The operator is a new process: all that it has used belongs to the step. */
  readonly startsOperator?: boolean;
}

export async function measureStep(bench: FleetBench, step: Step): Promise<StepResult> {
  const { fleet, operatorUser, progress } = bench;
  const title = titleOf(step);
  progress.at(title, () => `${arrived(fleet, operatorNamespace)} of ${fleet.size} nodes`);

  await operatorUser.requests.read();
  const cpuBefore = step.startsOperator === true ? 0 : bench.operator().meter.read().cpuSeconds;
  fleet.arrivals.begin();
  const beginMs = performance.now();
  await step.act();
  const spec = await Promise.race([effectOf(step, fleet, title), bench.failed()]);
  await untilIdle(bench.operator().meter);

  const { cpuSeconds, rssMb, peakMb } = bench.operator().meter.read();
  const requests = countRequests(await operatorUser.requests.read());
  const arrivals = fleet.arrivals.of(operatorNamespace);
  return {
    id: step.id,
    round: step.round,
    ...(arrivals === undefined
      ? {}
      : { firstSeconds: (arrivals.firstMs - beginMs) / 1000, allSeconds: (arrivals.lastMs - beginMs) / 1000 }),
    specChanges: arrivals?.changes ?? 0,
    ...(spec === undefined ? {} : { plainSeconds: await measurePlainly(bench, spec, title) }),
    cpuSeconds: cpuSeconds - cpuBefore,
    rssMb,
    peakMb,
    requests,
  };
}

/** The same specs by the plain client, while the operator has nothing to do. Seconds until the last was seen. */
async function measurePlainly({ fleet, failed, progress }: FleetBench, spec: SriovNetworkNodeStateSpec, title: string) {
  progress.at(`${title}: plain client`, () => `${arrived(fleet, plainNamespace)} of ${fleet.size} nodes`);
  fleet.arrivals.begin();
  const beginMs = performance.now();
  await Promise.race([fleet.applyPlainly(spec), failed()]);
  await Promise.race([untilAll(fleet, plainNamespace, title), failed()]);
  return ((fleet.arrivals.of(plainNamespace)?.lastMs ?? beginMs) - beginMs) / 1000;
}

/** The spec that all nodes have in the end; undefined for a step that changes none, whose absence is waited out. */
async function effectOf(step: Step, fleet: Fleet, title: string): Promise<SriovNetworkNodeStateSpec | undefined> {
  const { wanted } = step;
  if (wanted === undefined) {
    await sleep(noEffectMs);
    return undefined;
  }
  await untilAll(fleet, operatorNamespace, title);
  for (let attempt = 1; ; attempt++) {
    await untilQuiet(fleet);
    const spec = await fleet.commonSpec();
    if (spec !== undefined && wanted(spec)) return spec;
    if (attempt === mostLooks)
      throw new BenchError("late", `${title}: nodes have other specs than the policies ask for`);
  }
}

async function untilAll(fleet: Fleet, namespace: string, title: string): Promise<void> {
  const deadline = performance.now() + 60_000 + 60 * fleet.size;
  while (arrived(fleet, namespace) < fleet.size) {
    if (performance.now() > deadline) {
      throw new BenchError("late", `${title}: only ${arrived(fleet, namespace)} of ${fleet.size} specs arrived`);
    }
    await sleep(20);
  }
}

/** Waits until no spec has changed for a while: where each node is written twice, the first time is not the end. */
async function untilQuiet(fleet: Fleet): Promise<void> {
  for (let before = -1; before !== changes(fleet);) {
    before = changes(fleet);
    await sleep(quietMs);
  }
}

function arrived(fleet: Fleet, namespace: string): number {
  return fleet.arrivals.of(namespace)?.objects ?? 0;
}

function changes(fleet: Fleet): number {
  return fleet.arrivals.of(operatorNamespace)?.changes ?? 0;
}

const noEffectMs = 3_000;
const quietMs = 700;
const mostLooks = 20;
