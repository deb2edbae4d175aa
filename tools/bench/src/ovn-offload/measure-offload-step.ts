// SPDX-License-Identifier: Apache-2.0
/**
 * measureOffloadStep runs one step of the scenario and measures its cost, first of ovn-offload alone, then of the plain client,
 * which repeats what ovn-offload has written.
 */
import type { AuditEvent } from "@switchyard/testing";
import type { BenchCluster, BenchUser } from "../harness/bench-cluster.ts";
import { BenchError, pause } from "../harness/run-control.ts";
import { loadBetween, readLoad } from "../harness/machine.ts";
import type { MeasuredService } from "../harness/measured-service.ts";
import { inParallel, type PlainClient } from "../harness/plain-client.ts";
import { untilIdle } from "../harness/process-meter.ts";
import type { Progress } from "../harness/progress.ts";
import { countRequests } from "../harness/request-count.ts";
import type { OffloadStep } from "./offload-scenario.ts";
import { titleOf, type OffloadStepResult } from "./offload-step-result.ts";
import { readOffload } from "./offload-view.ts";
import { bytesOf, isReplayed, plainReplay } from "./plain-replay.ts";

/** What the steps of a run share. */
export interface OffloadBench {
  readonly cluster: BenchCluster;
  readonly service: MeasuredService;
  readonly serviceUser: BenchUser;
  readonly plain: PlainClient;
  /** Number of connections of the plain client. */
  readonly connections: number;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export async function measureOffloadStep(bench: OffloadBench, step: OffloadStep): Promise<OffloadStepResult> {
  const { service, serviceUser, progress, signal } = bench;
  const title = titleOf(step);
  await serviceUser.requests.read();
  const cpuBefore = step.startsService === true ? 0 : service.read().cpuSeconds;
  progress.at(`${title}: cause`);
  await step.act();

  const loadBefore = readLoad();
  const beginMs = Date.now();
  let written = 0;
  progress.at(title, () => `${written} writes`);
  const events: AuditEvent[] = [];
  let load = loadBetween(loadBefore, readLoad());
  for (let quietSinceMs = beginMs; ;) {
    await pause(pollMs, signal);
    const news = await serviceUser.requests.read();
    events.push(...news);
    if (news.some(isReplayed)) {
      written += news.filter(isReplayed).length;
      quietSinceMs = Date.now();
      load = loadBetween(loadBefore, readLoad());
    }
    if (Date.now() - quietSinceMs < (step.isDone === undefined ? noEffectMs : quietMs)) continue;
    const view = step.isDone === undefined ? undefined : await readOffload(bench.cluster.admin);
    if (view === undefined || step.isDone?.(view) === true) break;
    if (Date.now() - quietSinceMs > limitMs) {
      const { all, ...counts } = view;
      const found = `${JSON.stringify(counts)} ${all.slice(-1000)}`;
      throw new BenchError("late", `timed out: ${title}: ${found}\n${service.logEnd()}`);
    }
  }
  await untilIdle(service, signal);

  const { cpuSeconds, rssMb, peakMb } = service.read();
  const writes = events.filter(isReplayed);
  const [statuses, others] = [writes.filter(isOfStatus), writes.filter((write) => !isOfStatus(write))];
  const secondsOf = (some: readonly AuditEvent[]) =>
    Math.max(0, ...some.map(({ stageTimestamp }) => Date.parse(stageTimestamp) - beginMs)) / 1000;
  return {
    id: step.id,
    round: step.round,
    load,
    bytes: bytesOf(plainReplay(writes)),
    ...(others.length > 0 && {
      seconds: secondsOf(others),
      ...(await measurePlainly(bench, title, { writes: others, beginMs })),
    }),
    ...(statuses.length > 0 && { statusSeconds: secondsOf(statuses) }),
    cpuSeconds: cpuSeconds - cpuBefore,
    rssMb,
    peakMb,
    requests: countRequests(events),
  };
}

/** The status is written at a pace of its own (StatusPace). */
function isOfStatus({ objectRef }: AuditEvent): boolean {
  return objectRef?.resource === "sriovoperatorconfigs";
}

interface Written {
  readonly writes: readonly AuditEvent[];
  /** When the step began. */
  readonly beginMs: number;
}

/**
 * Lets the plain client repeat the writes while ovn-offload is idle. Like the time of ovn-offload, its time is that of the writes
 * which were sent when the cause was complete.
 */
async function measurePlainly(bench: OffloadBench, title: string, { writes, beginMs }: Written) {
  const { plain, connections, progress, signal } = bench;
  const repeat = (some: readonly AuditEvent[] = []) =>
    inParallel(plainReplay(some), connections, async (ofObject) => {
      signal.throwIfAborted();
      for (const request of ofObject) await plain.request(request);
    });
  const { true: measured, false: early } = Object.groupBy(writes, ({ requestReceivedTimestamp }) =>
    String(Date.parse(requestReceivedTimestamp) >= beginMs),
  );
  progress.at(`${title}: plain client`);
  await repeat(early);
  const loadBefore = readLoad();
  const startMs = performance.now();
  await repeat(measured);
  const plainSeconds = (performance.now() - startMs) / 1000;
  return { plainSeconds, plainLoad: loadBetween(loadBefore, readLoad()) };
}

const pollMs = 200;
/** Longer than ovn-offload waits for further changes, and between two writes of the status of 1,000 hosts. */
const quietMs = 6_000;
const noEffectMs = 6_000;
const limitMs = 60_000;
