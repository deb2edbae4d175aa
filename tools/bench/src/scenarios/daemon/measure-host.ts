// SPDX-License-Identifier: Apache-2.0
/** measureHost measures the daemon on one host: its starts, the changes of the plan, and an idle time. */
import { eventually } from "@switchyard/testing";
import { untilIdle } from "../../harness/proc.ts";
import { pause, type Run } from "../../harness/run.ts";
import { measureCost, type Cost } from "../../harness/step.ts";
import type { Change, HostPlan } from "./hosts.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";

/** One measurement, a row of the report. */
export interface DaemonResult extends Cost {
  /** "refusal" is a spec that cannot be applied, and "flap" the loss of the carrier of a configured PF for a moment. */
  readonly what: "start" | "change" | "refusal" | "flap" | "idle";
  readonly title: string;
  /** In a guest that is emulated, the first round is slower: the emulator translates code that runs for the first time. */
  readonly round: number;
  /**
   * Of a start, seconds from the start of the process until status.interfaces was written. Of a change, seconds from the change of
   * the spec at the API server until status.syncStatus was Succeeded; of a refusal, until it was Failed. Of "idle", its length.
   */
  readonly seconds?: number;
  /** Seconds until the kernel's first write; absent on a host where it cannot be observed. */
  readonly firstWriteSeconds?: number;
  /** Of a refusal: status.lastSyncError, and whether working VFs are gone. */
  readonly words?: string;
  readonly isAnythingDestroyed?: boolean;
}

export interface HostFigures {
  readonly results: readonly DaemonResult[];
  /** Of the process that made the last change in the report. */
  readonly peakMb: number;
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds: readonly number[];
}

/** The daemon collects the garbage of its start a second after its first pass. That belongs to the start, not to an idle daemon. */
const startEndMs = 2_000;

/** At the end there are no VFs and the daemon is stopped. */
export async function measureHost(
  { progress, signal }: Run,
  daemon: DaemonUnderTest,
  { plan, rounds, idleSeconds }: { readonly plan: HostPlan; readonly rounds: number; readonly idleSeconds: number },
): Promise<HostFigures> {
  const { node } = daemon;
  const results: DaemonResult[] = [];

  /** Measures `act` of the idle daemon. */
  async function measure(
    { what, title, round = 1 }: { what: DaemonResult["what"]; title: string; round?: number },
    act: () => Promise<Partial<DaemonResult>>,
  ): Promise<DaemonResult> {
    progress.at(title, () => node.status().syncStatus ?? "");
    await untilIdle(daemon, signal);
    const { outcome, cost } = await measureCost(daemon, act, { signal });
    return { what, title, round, ...cost, ...outcome };
  }

  /** Measures a start in each round, and calls `prepare` before each but the first. The daemon of the last one then runs. */
  async function start(title: string, prepare: () => Promise<void>): Promise<void> {
    for (let round = 1; round <= rounds; round++) {
      if (round > 1) {
        await daemon.stop();
        await prepare();
      }
      progress.at(title);
      const act = async () => {
        const beginMs = performance.now();
        await daemon.start();
        const reportMs = () => node.seenSince(beginMs).find(({ status }) => (status.interfaces ?? []).length > 0)?.atMs;
        // A daemon whose status is up to date writes nothing. Then only its readiness shows that it has started.
        const readyMs = performance.now();
        if (node.status().interfaces === undefined)
          await eventually(title, reportMs, { withinMs: 180_000, everyMs: 20, signal });
        return ((reportMs() ?? readyMs) - beginMs) / 1000;
      };
      const options = { signal, startsProcess: true, quietMs: startEndMs };
      const { outcome: seconds, cost } = await measureCost(daemon, act, options);
      results.push({ what: "start", title, round, seconds, ...cost });
    }
  }

  async function change({ title, interfaces, bridges, isHidden }: Change, round: number): Promise<void> {
    const result = await measure({ what: "change", title, round }, async () => {
      const order = await node.order(interfaces, bridges);
      const settledMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Succeeded");
      const firstMs = daemon.firstWriteMs(order.sentMs);
      return {
        seconds: (settledMs - order.sentMs) / 1000,
        ...(firstMs === undefined ? {} : { firstWriteSeconds: (firstMs - order.sentMs) / 1000 }),
      };
    });
    if (isHidden !== true) results.push(result);
  }

  async function refuse({ title, interfaces }: Change): Promise<void> {
    const identity = await daemon.vfIdentity();
    const result = await measure({ what: "refusal", title }, async () => {
      const order = await node.order(interfaces);
      const shownMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Failed");
      return { seconds: (shownMs - order.sentMs) / 1000, words: node.status().lastSyncError ?? "" };
    });
    results.push({ ...result, isAnythingDestroyed: identity !== (await daemon.vfIdentity()) });
  }

  const flap = (title: string) =>
    measure({ what: "flap", title }, async () => {
      await daemon.flapLink?.();
      return {};
    });

  await start(plan.firstStart, () => node.clearStatus());
  for (let round = 1; round <= rounds; round++) {
    for (const one of plan.rounds) await change(one, round);
    const isReset = plan.rounds.at(-1)?.interfaces.length === 0;
    if (round < rounds && !isReset) await change(plan.reset, round);
  }
  for (const one of plan.then) await (one.isRefused === true ? refuse(one) : change(one, 1));
  if (plan.flapsLink) {
    // A restart of the autonegotiation interrupts the carrier. The first one sets the link up, which the status shows.
    await flap("the link comes up");
    results.push(await flap("link flap"));
  }
  // The daemon still updates its events a minute later, so only a new process is idle.
  await daemon.stop();
  await start(plan.restart, () => Promise.resolve());
  const idle = await measure({ what: "idle", title: "idle" }, () => pause(idleSeconds * 1000, signal).then(() => ({})));
  results.push({ ...idle, seconds: idleSeconds });
  await change({ ...plan.reset, isHidden: true }, rounds);
  if (plan.slow !== undefined) {
    daemon.slowDown?.(plan.slow.kernelSeconds * 1000);
    await change(plan.slow, 1);
  }
  await daemon.stop();
  const last = results.findLast(({ what }) => what !== "start" && what !== "idle");
  return { results, peakMb: last?.peakMb ?? Number.NaN, stopSeconds: daemon.stopSeconds };
}
