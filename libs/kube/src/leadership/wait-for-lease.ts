// SPDX-License-Identifier: Apache-2.0
/**
 * waitForLease polls the lease and takes it when it is free or when its holder has not renewed it for the lease duration.
 * That time is measured by the local clock from the moment at which this process saw the last change.
 */
import { sleep } from "../clock.ts";
import { isKubeError } from "../http/kube-error.ts";
import type { Election, HeldLease } from "./election.ts";
import { createLease, readLease, writeLease, type Lease } from "./lease.ts";

/** The last state that was seen, and the time from which the lease can be taken if the state does not change. */
interface Observation {
  readonly revision: string;
  readonly freeAtMs: number;
}

/** Resolves with the lease when this process holds it, or with undefined when the election's signal aborts. */
export async function waitForLease(election: Election): Promise<HeldLease | undefined> {
  const { clock, signal, timings, transport, lease: name, requestMs } = election;
  let seen: Observation | undefined;

  while (!signal.aborted) {
    try {
      const held = await tryToTake();
      if (held !== undefined) return held;
    } catch (error) {
      if (!isExpected(error)) election.report(error);
    }
    await sleep(clock, pauseMs(), signal).catch(() => undefined);
  }
  return undefined;

  // Another replica may write the lease first.
  function isExpected(error: unknown): boolean {
    return signal.aborted || isKubeError(error, "Conflict", "AlreadyExists");
  }

  async function tryToTake(): Promise<HeldLease | undefined> {
    const lease = await readLease(transport, name, { timeoutMs: requestMs, signal });
    if (lease !== undefined) election.note(lease);
    if (lease !== undefined && lease.revision !== seen?.revision) seen = observationOf(lease);
    if (seen !== undefined && clock.nowMs() < seen.freeAtMs) return undefined;

    const sentMs = clock.nowMs();
    const claim = election.claim((lease?.transitions ?? -1) + 1, "first");
    // Without the signal: an aborted request can still take the lease, which would then not be released.
    const taken = await (lease === undefined
      ? createLease(transport, name, claim, { timeoutMs: requestMs })
      : writeLease(transport, lease, claim, { timeoutMs: requestMs }));
    election.note(taken);
    return { lease: taken, validUntilMs: sentMs + timings.renewDeadlineMs };
  }

  function observationOf({ revision, holder, durationMs }: Lease): Observation {
    return { revision, freeAtMs: clock.nowMs() + waitFor(holder, durationMs) };
  }

  function waitFor(holder: string, durationMs: number): number {
    if (holder === "") return 0;
    // This process: the response to a claim was lost, or it has led and no renewal succeeded. Its earlier writes may still
    // arrive, so it waits as long as other replicas would.
    if (holder === election.identity) return timings.leaseDurationMs - timings.renewDeadlineMs;
    return Math.max(durationMs, timings.leaseDurationMs);
  }

  // Random, so that replicas that started together do not poll together.
  function pauseMs(): number {
    const ownMs = timings.retryMs * (0.75 + election.random() / 2);
    const freeInMs = (seen?.freeAtMs ?? 0) - clock.nowMs();
    return freeInMs > 0 ? Math.min(ownMs, freeInMs) : ownMs;
  }
}
