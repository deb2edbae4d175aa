// SPDX-License-Identifier: Apache-2.0
/** DaemonMeasures measures a start of the daemon, a change, a refusal, and an idle daemon. */
import type { Bridges } from "@switchyard/api";
import { untilIdle } from "../harness/process-meter.ts";
import type { Progress } from "../harness/progress.ts";
import { countRequests } from "../harness/request-count.ts";
import { pause, until } from "../harness/run-control.ts";
import type { ChangeResult, Cost, FlapResult, IdleResult, RefusalResult, StartResult } from "./daemon-results.ts";
import type { DaemonUnderTest, NodeInterface } from "./node-under-test.ts";

export interface DaemonMeasures {
  /** Measures a start in each round, on a node whose state has no status yet. The daemon of the last one then runs. */
  firstStarts(title: string, rounds: number): Promise<readonly StartResult[]>;
  /** Likewise, on a node whose state has a status. */
  restarts(title: string, rounds: number): Promise<readonly StartResult[]>;
  change(title: string, round: number, interfaces: readonly NodeInterface[], bridges?: Bridges): Promise<ChangeResult>;
  refusal(title: string, interfaces: readonly NodeInterface[]): Promise<RefusalResult>;
  /** Measures what the daemon does about an event on its host that changes nothing. */
  flap(title: string, act: () => Promise<void>): Promise<FlapResult>;
  idle(seconds: number): Promise<IdleResult>;
}

/** The daemon collects the garbage of its start a second after its first pass. That belongs to the start, not to an idle daemon. */
const startEndMs = 2_000;

export function createDaemonMeasures(
  daemon: DaemonUnderTest,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
): DaemonMeasures {
  const { node, requests } = daemon;

  /** Measures `act` until the daemon is idle again. */
  async function costOf<T>(act: () => Promise<T>): Promise<Cost & { readonly outcome: T }> {
    await untilIdle(daemon, signal);
    await requests.read();
    const before = await daemon.read();
    const outcome = await act();
    await untilIdle(daemon, signal);
    const after = await daemon.read();
    return {
      outcome,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      childFaults: after.childFaults - before.childFaults,
      requests: countRequests(await requests.read()),
    };
  }

  async function start(title: string, round: number): Promise<StartResult> {
    progress.at(title);
    await requests.read();
    const beginMs = performance.now();
    await daemon.start();
    const report = () => node.seenSince(beginMs).find(({ status }) => (status.interfaces ?? []).length > 0);
    // A daemon whose status is up to date writes nothing. Then only its readiness shows that it has started.
    const readyMs = performance.now();
    if (node.status().interfaces === undefined)
      await until(title, () => report() !== undefined, { withinMs: 180_000, signal });
    const firstMs = report()?.atMs ?? readyMs;
    await untilIdle(daemon, signal, { quietMs: startEndMs });
    const { cpuSeconds, childFaults, rssMb, peakMb } = await daemon.read();
    const cost = { cpuSeconds, childFaults, requests: countRequests(await requests.read()) };
    return { title, round, seconds: (firstMs - beginMs) / 1000, rssMb, peakMb, ...cost };
  }

  /** Calls `prepare` before each start but the first. */
  async function startInRounds(title: string, rounds: number, prepare: () => Promise<void>): Promise<StartResult[]> {
    const starts = [await start(title, 1)];
    for (let round = 2; round <= rounds; round++) {
      await daemon.stop();
      await prepare();
      starts.push(await start(title, round));
    }
    return starts;
  }

  return {
    firstStarts: (title, rounds) => startInRounds(title, rounds, () => node.clearStatus()),
    restarts: (title, rounds) => startInRounds(title, rounds, () => Promise.resolve()),

    async change(title, round, interfaces, bridges) {
      progress.at(title, () => node.status().syncStatus ?? "");
      const { outcome, ...cost } = await costOf(async () => {
        const order = await node.order(interfaces, bridges);
        const settledMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Succeeded");
        const firstMs = daemon.firstWriteMs(order.sentMs);
        return {
          settledSeconds: (settledMs - order.sentMs) / 1000,
          ...(firstMs === undefined ? {} : { firstWriteSeconds: (firstMs - order.sentMs) / 1000 }),
        };
      });
      return { title, round, ...outcome, ...cost };
    },

    async refusal(title, interfaces) {
      progress.at(title, () => node.status().lastSyncError ?? "");
      const identity = await daemon.vfIdentity();
      const { outcome, ...cost } = await costOf(async () => {
        const order = await node.order(interfaces);
        const shownMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Failed");
        return { shownSeconds: (shownMs - order.sentMs) / 1000, words: node.status().lastSyncError ?? "" };
      });
      return { title, ...outcome, ...cost, isAnythingDestroyed: identity !== (await daemon.vfIdentity()) };
    },

    async flap(title, act) {
      progress.at(title);
      const { outcome: _nothing, ...cost } = await costOf(act);
      return { title, ...cost };
    },

    async idle(seconds) {
      progress.at(`idle for ${seconds} s`);
      const { outcome, ...cost } = await costOf(() => pause(seconds * 1000, signal).then(() => daemon.read()));
      return { seconds, rssMb: outcome.rssMb, ...cost };
    },
  };
}
