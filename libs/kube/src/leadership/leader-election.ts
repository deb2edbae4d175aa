// SPDX-License-Identifier: Apache-2.0
/**
 * runWhenLeading runs work in only one of several replicas, by a Lease (coordination.k8s.io/v1) that the leader renews.
 * Two replicas never lead at the same time, even when event loops block and clocks differ:
 *
 * - The leader counts its deadline from before it sends a renewal, by its own clock. The others count the lease duration,
 *   which is longer, from after they see the renewal, by their clocks. Times in the Lease are never compared; they are for
 *   people. Clocks may differ in speed by the margin between the two durations.
 * - The work writes through `leadership.transport`, which reads the clock for each write (guard-transport.ts). So the
 *   writes of a process that was frozen are rejected even before it notices the loss of the lease.
 * - A lease is taken by a write that fails if anyone has written the Lease since it was read. So a replica that was frozen
 *   cannot take a lease that was renewed during that time.
 * - The lease is released only after the work has ended.
 *
 * Do not delete the Lease of a running leader: the leader notices it only at its next renewal, and a new replica does not
 * wait for that.
 *
 * Usage: `await runWhenLeading({ transport, lease: { namespace, name: "example" }, identity, signal, report, onLeading })`.
 */
import { sleep, type Clock } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { linkAbort } from "../linked-abort.ts";
import { createElection, type Election, type HeldLease } from "./election.ts";
import { guardTransport } from "./guard-transport.ts";
import type { LeaderElectionOptions } from "./leader-election-options.ts";
import { readLease, writeLease, type LeaseName } from "./lease.ts";
import { waitForLease } from "./wait-for-lease.ts";

/**
 * Waits for the lease, runs the work, and releases the lease. When the lease is lost, it waits again. Resolves when
 * `signal` aborts or the work ends by itself, and rejects with the error of the work. In each case the lease is released,
 * or expires if the server cannot be reached. Rejects with RangeError for timings without a margin.
 */
export async function runWhenLeading(options: LeaderElectionOptions): Promise<void> {
  const election = createElection(options);
  for (;;) {
    const held = await waitForLease(election);
    if (held === undefined || (await lead(election, held)) === "ended") return;
  }
}

/**
 * lead runs the work of a leader and renews the lease until the work has ended, also while the work stops.
 * Settles when the work has ended. Resolves with "lost" if the lease expired or was taken before that, else with "ended"
 * after it has released the lease.
 */
async function lead(election: Election, { lease, validUntilMs }: HeldLease): Promise<"lost" | "ended"> {
  const { clock, timings, transport, lease: name, identity, report, requestMs } = election;
  using end = linkAbort(election.signal);
  const workEnded = new AbortController();
  const remainingMs = () => validUntilMs - clock.nowMs();
  holdUntil(validUntilMs);
  const renewing = renew();

  try {
    const leadership = {
      transport: guardTransport(transport, remainingMs),
      signal: end.signal,
      isLeading: () => remainingMs() > 0,
    };
    if (!end.signal.aborted) await election.onLeading(leadership);
  } catch (error) {
    if (!end.signal.aborted) throw error;
    if (error !== end.signal.reason) report(error);
  } finally {
    workEnded.abort();
    await renewing;
    if (remainingMs() > 0) await release();
  }
  return end.signal.aborted && !election.signal.aborted ? "lost" : "ended";

  async function renew(): Promise<void> {
    for (let pauseMs = timings.retryMs; (await pause(clock, pauseMs, workEnded.signal)) && remainingMs() > 0;) {
      try {
        pauseMs = (await renewOnce()) ? timings.retryMs : 0;
      } catch (error) {
        report(error);
        pauseMs = timings.retryMs / 2;
      }
    }
  }

  /** Returns whether the lease was renewed. If not, the next attempt uses the Lease that was read. */
  async function renewOnce(): Promise<boolean> {
    const sentMs = clock.nowMs();
    const limits = { timeoutMs: Math.min(requestMs, remainingMs()) };
    try {
      lease = await writeLease(transport, lease, election.claim(lease.transitions), limits);
      election.note(lease);
      // A response after the deadline does not prolong the leadership: the work has been told to stop.
      if (remainingMs() > 0) holdUntil(sentMs + timings.renewDeadlineMs);
      return true;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
    }
    // Either a renewal succeeded whose response was lost, or someone changed a label, or there is another holder.
    const found = await readLease(transport, name, limits);
    if (found !== undefined) election.note(found);
    if (found?.holder === identity) {
      lease = found;
    } else {
      validUntilMs = -Infinity;
      end.abort(
        notLeading(name, found === undefined ? "the Lease was deleted" : `the Lease is held by "${found.holder}"`),
      );
    }
    return false;
  }

  function holdUntil(deadlineMs: number): void {
    validUntilMs = deadlineMs;
    end.in(clock, remainingMs(), () => notLeading(name, `the Lease was not renewed for ${timings.renewDeadlineMs} ms`));
  }

  /** Releases the lease so that the next leader need not wait until it expires. */
  async function release(): Promise<void> {
    validUntilMs = -Infinity;
    try {
      await writeLease(transport, lease, election.release(lease), { timeoutMs: timings.retryMs });
    } catch (error) {
      report(error);
    }
  }
}

/** Resolves with false if the signal aborts during the pause. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, ms, signal).then(
    () => true,
    () => false,
  );
}

function notLeading({ namespace, name }: LeaseName, words: string): KubeError {
  return new KubeError(`lead by Lease ${namespace}/${name}`, "NotLeading", { words });
}
