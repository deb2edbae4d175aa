// SPDX-License-Identifier: Apache-2.0
/**
 * Waiting for the lease: looks at it again and again, and takes it when it is free or nobody has renewed it for as long
 * as it says. That time runs on our own clock, from when we saw the last change.
 * Usage: `const held = await waitForLease(election)`.
 */
import { sleep } from "../clock.ts";
import { isKubeError } from "../http/kube-error.ts";
import type { Election, HeldLease } from "./election.ts";
import { createLease, readLease, writeLease, type Lease } from "./lease.ts";

/** What we saw last, and when it may be taken if it stays so. */
interface Sight {
  readonly revision: string;
  readonly freeAtMs: number;
}

/** The lease, once it is ours; undefined when the election's signal aborts. */
export async function waitForLease(election: Election): Promise<HeldLease | undefined> {
  const { clock, signal, timings, transport, lease: name, requestMs } = election;
  let seen: Sight | undefined;

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

  // Others are faster as a matter of course.
  function isExpected(error: unknown): boolean {
    return signal.aborted || isKubeError(error, "Conflict", "AlreadyExists");
  }

  async function tryToTake(): Promise<HeldLease | undefined> {
    const lease = await readLease(transport, name, { timeoutMs: requestMs, signal });
    if (lease !== undefined && lease.revision !== seen?.revision) seen = sightOf(lease);
    if (seen !== undefined && clock.nowMs() < seen.freeAtMs) return undefined;

    const sentMs = clock.nowMs();
    const claim = election.claim((lease?.transitions ?? -1) + 1, "first");
    // Without the signal: it may be ours whether or not we hear of it, and what is ours is to be given back.
    const taken = await (lease === undefined
      ? createLease(transport, name, claim, { timeoutMs: requestMs })
      : writeLease(transport, lease, claim, { timeoutMs: requestMs }));
    return { lease: taken, validUntilMs: sentMs + timings.renewDeadlineMs };
  }

  function sightOf({ revision, holder, durationMs }: Lease): Sight {
    return { revision, freeAtMs: clock.nowMs() + waitFor(holder, durationMs) };
  }

  function waitFor(holder: string, durationMs: number): number {
    if (holder === "") return 0;
    // Ours: the answer to a claim was lost, or we have led and no renewal got through. Writes of that time may be on
    // their way for as long as others would wait for them.
    if (holder === election.identity) return timings.leaseDurationMs - timings.renewDeadlineMs;
    return Math.max(durationMs, timings.leaseDurationMs);
  }

  // Replicas that started together need not ask together.
  function pauseMs(): number {
    const ownMs = timings.retryMs * (0.75 + election.random() / 2);
    const freeInMs = (seen?.freeAtMs ?? 0) - clock.nowMs();
    return freeInMs > 0 ? Math.min(ownMs, freeInMs) : ownMs;
  }
}
