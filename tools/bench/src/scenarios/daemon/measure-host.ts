// SPDX-License-Identifier: Apache-2.0
/** measureHost measures the daemon on one host: its starts, the changes of the plan, and an idle time. */
import { untilIdle } from "../../harness/proc.ts";
import { pause, until, type Run } from "../../harness/run.ts";
import { measureCost, type Cost } from "../../harness/step.ts";
import type { Change, HostPlan } from "./hosts.ts";
import type { DaemonUnderTest } from "./node-under-test.ts";

export interface StartResult extends Cost {
  readonly title: string;
  /** In a guest that is emulated, the first round is slower: the emulator translates code that runs for the first time. */
  readonly round: number;
  /** Seconds from the start of the process until status.interfaces was written. */
  readonly seconds: number;
}

export interface ChangeResult extends Cost {
  readonly title: string;
  readonly round: number;
  /** Seconds until the kernel's first write; absent on a host where it cannot be observed. */
  readonly firstWriteSeconds?: number;
  /** Seconds from the change of the spec at the API server until status.syncStatus was Succeeded. */
  readonly settledSeconds: number;
}

/** A spec that cannot be applied, on a node with working VFs. */
export interface RefusalResult extends Cost {
  readonly title: string;
  /** Seconds until status.syncStatus was Failed. */
  readonly shownSeconds: number;
  /** status.lastSyncError. */
  readonly words: string;
  readonly isAnythingDestroyed: boolean;
}

/** What the daemon does when the carrier of a configured PF is lost for a moment. */
export interface FlapResult extends Cost {
  readonly title: string;
}

export interface IdleResult extends Cost {
  readonly seconds: number;
}

export interface HostFigures {
  readonly starts: readonly StartResult[];
  readonly changes: readonly ChangeResult[];
  readonly refusals: readonly RefusalResult[];
  readonly flaps: readonly FlapResult[];
  readonly idle: IdleResult;
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
  const starts: StartResult[] = [];
  const changes: ChangeResult[] = [];
  const refusals: RefusalResult[] = [];
  const flaps: FlapResult[] = [];
  /** Measures `act` of the idle daemon. */
  async function costOf<Outcome>(act: () => Promise<Outcome>) {
    await untilIdle(daemon, signal);
    return measureCost(daemon, act, { signal });
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
        const report = () => node.seenSince(beginMs).find(({ status }) => (status.interfaces ?? []).length > 0);
        // A daemon whose status is up to date writes nothing. Then only its readiness shows that it has started.
        const readyMs = performance.now();
        if (node.status().interfaces === undefined)
          await until(title, () => report() !== undefined, { withinMs: 180_000, signal });
        return ((report()?.atMs ?? readyMs) - beginMs) / 1000;
      };
      const options = { signal, startsProcess: true, quietMs: startEndMs };
      const { outcome: seconds, cost } = await measureCost(daemon, act, options);
      starts.push({ title, round, seconds, ...cost });
    }
  }

  async function change({ title, interfaces, bridges, isHidden }: Change, round: number): Promise<void> {
    progress.at(title, () => node.status().syncStatus ?? "");
    const { outcome, cost } = await costOf(async () => {
      const order = await node.order(interfaces, bridges);
      const settledMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Succeeded");
      const firstMs = daemon.firstWriteMs(order.sentMs);
      return {
        settledSeconds: (settledMs - order.sentMs) / 1000,
        ...(firstMs === undefined ? {} : { firstWriteSeconds: (firstMs - order.sentMs) / 1000 }),
      };
    });
    if (isHidden !== true) changes.push({ title, round, ...outcome, ...cost });
  }

  async function refuse({ title, interfaces }: Change): Promise<void> {
    progress.at(title, () => node.status().lastSyncError ?? "");
    const identity = await daemon.vfIdentity();
    const { outcome, cost } = await costOf(async () => {
      const order = await node.order(interfaces);
      const shownMs = await node.when(title, order, ({ syncStatus }) => syncStatus === "Failed");
      return { shownSeconds: (shownMs - order.sentMs) / 1000, words: node.status().lastSyncError ?? "" };
    });
    refusals.push({ title, ...outcome, ...cost, isAnythingDestroyed: identity !== (await daemon.vfIdentity()) });
  }

  await start(plan.firstStart, () => node.clearStatus());
  for (let round = 1; round <= rounds; round++) {
    for (const one of plan.rounds) await change(one, round);
    const isReset = plan.rounds.at(-1)?.interfaces.length === 0;
    if (round < rounds && !isReset) await change(plan.reset, round);
  }
  for (const one of plan.then) await (one.isRefused === true ? refuse(one) : change(one, 1));
  if (plan.flapsLink) {
    // A restart of the autonegotiation interrupts the carrier. The first one sets the link up, which the status shows.
    for (const title of ["the link comes up", "link flap"]) {
      progress.at(title);
      const { cost } = await costOf(async () => daemon.flapLink?.());
      flaps.splice(0, 1, { title, ...cost });
    }
  }
  // The daemon still updates its events a minute later, so only a new process is idle.
  await daemon.stop();
  await start(plan.restart, () => Promise.resolve());
  progress.at(`idle for ${idleSeconds} s`);
  const { outcome, cost } = await costOf(() => pause(idleSeconds * 1000, signal).then(() => daemon.read()));
  const idle = { seconds: idleSeconds, ...cost, rssMb: outcome.rssMb };
  await change({ ...plan.reset, isHidden: true }, rounds);
  if (plan.slow !== undefined) {
    daemon.slowDown?.(plan.slow.kernelSeconds * 1000);
    await change(plan.slow, 1);
  }
  await daemon.stop();
  const { peakMb = Number.NaN } =
    (plan.slow === undefined ? [...changes, ...refusals, ...flaps] : changes).at(-1) ?? {};
  return { starts, changes, refusals, flaps, idle, peakMb, stopSeconds: daemon.stopSeconds };
}
