// SPDX-License-Identifier: Apache-2.0
/**
 * measureSteps measures the steps of a program that writes to the API server: first of the program alone, then of the plain client.
 * The plain client repeats what the program has written, while the program is idle. The times are those of the audit log.
 */
import { outputOf, type AuditEvent } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadBetween, readLoad } from "../harness/proc.ts";
import { isLastingWrite } from "../harness/requests.ts";
import { BenchError, pause, type Run } from "../harness/run.ts";
import { bundleProgram } from "../harness/service.ts";
import { measureCost, stepCells, titleOf, type StepKind, type StepResult } from "../harness/step.ts";
import type { BenchCluster, ClusterService, PlainUser } from "./bench-cluster.ts";
import { sendAll } from "./plain-client.ts";
import { bytesOf, plainReplay } from "./plain-replay.ts";
import type { PlainStart } from "./plain-start.ts";

export interface Step {
  readonly kind: StepKind;
  readonly round: number;
  /** Prepares the cluster for the step; not measured. */
  readonly prepare?: () => Promise<unknown>;
  /** Causes the step. */
  readonly act: () => Promise<unknown>;
  /** Whether the result of the step is there, or else what is found; absent if nothing must be written. */
  readonly isDone?: (writes: readonly AuditEvent[]) => true | string | Promise<true | string>;
  /** Whether the step starts a new process. A new process then repeats its writes, too. */
  readonly startsProcess?: boolean;
}

/** What the steps of a run share. */
export interface StepBench {
  readonly run: Run;
  readonly cluster: BenchCluster;
  readonly service: ClusterService;
  readonly plain: PlainUser;
  /** Whether the time of a step begins with its cause; if not, when the cause is complete. */
  readonly isCauseTimed: boolean;
  /** Reports whether a write is timed and repeated by the plain client. */
  readonly isTimed: (write: AuditEvent) => boolean;
  /** Reports whether a write is one of a status that has a pace of its own. It is not repeated. */
  readonly isStatus?: (write: AuditEvent) => boolean;
  /** How long the program must write nothing for a step to end: one with a result, and one without. */
  readonly quietMs: { readonly done: number; readonly without: number };
  /** Waits before each step until the API server is as quick as at the start. */
  readonly settle?: () => Promise<unknown>;
}

export async function measureSteps(bench: StepBench, steps: readonly Step[]): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps) {
    const result = await measureStep(bench, step);
    results.push(result);
    bench.run.progress.say(Object.values(stepCells(result)).join(" | ")); // a run takes long
  }
  return results;
}

async function measureStep(bench: StepBench, step: Step): Promise<StepResult> {
  const { run, service, isCauseTimed } = bench;
  const { kind, round, startsProcess } = step;
  run.progress.at(`${titleOf(step)}: preparing`);
  await step.prepare?.();
  await bench.settle?.();
  const measured = await measureCost(service, () => causeAndWait(bench, step), { signal: run.signal, startsProcess });
  const { beginMs, load, writes } = measured.outcome;
  const secondsOf = ({ stageTimestamp }: AuditEvent) => Math.max(0, Date.parse(stageTimestamp) - beginMs) / 1000;
  const isStatus = (write: AuditEvent) => bench.isStatus?.(write) === true;
  const timed = writes.filter((write) => !isStatus(write)).map(secondsOf);
  const statuses = writes.filter(isStatus).map(secondsOf);
  return {
    kind,
    round,
    load,
    bytes: bytesOf(plainReplay(writes)),
    ...measured.cost,
    ...(statuses.length > 0 && { statusSeconds: Math.max(...statuses) }),
    ...(timed.length > 0 && {
      ...(isCauseTimed && { firstSeconds: Math.min(...timed) }),
      seconds: Math.max(...timed),
      ...(await repeatPlainly(bench, step, { writes: writes.filter((write) => !isStatus(write)), beginMs })),
    }),
  };
}

const pollMs = 200;

/** The time without a write after which a step that is not done fails. */
const limitMs = 120_000;

/** Causes the step and waits for its result. Rejects with BenchError `late`. */
async function causeAndWait(bench: StepBench, step: Step) {
  const { run, service, isCauseTimed, isTimed, isStatus = () => false, quietMs } = bench;
  const title = titleOf(step);
  run.progress.at(`${title}: cause`);
  const now = () => ({ beginMs: Date.now(), loadBefore: readLoad() });
  const begun = now();
  await step.act();
  const { beginMs, loadBefore } = isCauseTimed ? begun : now();
  let writes: readonly AuditEvent[] = [];
  let load = loadBetween(loadBefore, readLoad());
  run.progress.at(title, () => `${writes.length} writes`);
  for (let lastMs = Date.now(); ;) {
    await pause(pollMs, run.signal);
    const all = (await service.requests.read()).filter(isLastingWrite);
    const counted = all.filter((write) => isTimed(write) || isStatus(write));
    if (counted.length > writes.length) {
      lastMs = Date.now();
      load = loadBetween(loadBefore, readLoad());
      writes = counted;
    }
    const passedMs = Date.now() - lastMs;
    if (passedMs < (step.isDone === undefined ? quietMs.without : quietMs.done)) continue;
    const found = step.isDone === undefined ? true : await step.isDone(writes);
    if (found === true) return { beginMs, load, writes };
    if (passedMs > limitMs) throw new BenchError("late", `timed out: ${title}: ${found}\n${service.logEnd()}`);
  }
}

/**
 * Lets the plain client repeat the writes while the program is idle. Like the time of the program, its time is that of the writes
 * that were sent after `beginMs`.
 */
async function repeatPlainly(
  { run, cluster, plain: { client, identity, connections } }: StepBench,
  step: Step,
  { writes, beginMs }: { readonly writes: readonly AuditEvent[]; readonly beginMs: number },
): Promise<Pick<StepResult, "plainSeconds" | "plainLoad">> {
  run.progress.at(`${titleOf(step)}: plain client`);
  const { signal } = run;
  const isEarly = ({ requestReceivedTimestamp }: AuditEvent) => Date.parse(requestReceivedTimestamp) < beginMs;
  await sendAll(client, plainReplay(writes.filter(isEarly)), { connections, signal });
  const groups = plainReplay(writes.filter((write) => !isEarly(write)));
  let act = () => sendAll(client, groups, { connections, signal });
  if (step.startsProcess === true) {
    const script = await bundleProgram("tools/bench/src/cluster/plain-start.ts");
    const file = join(cluster.directory, "plain-start.json");
    await writeFile(file, JSON.stringify({ identity, connections, groups } satisfies PlainStart), { mode: 0o600 });
    act = async () => {
      await outputOf(process.execPath, [script, file], { signal });
    };
  }
  const [loadBefore, plainBeginMs] = [readLoad(), performance.now()];
  await act();
  return {
    plainSeconds: (performance.now() - plainBeginMs) / 1000,
    plainLoad: loadBetween(loadBefore, readLoad()),
  };
}
