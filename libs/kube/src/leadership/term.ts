// SPDX-License-Identifier: Apache-2.0
/**
 * One time of leading: runs the work and renews the lease until the work has ended, also while it winds down.
 * Usage: `if ((await lead(election, held)) === "lost") console.log("another may lead")`.
 */
import { sleep } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import type { Election, HeldLease } from "./election.ts";
import { guardTransport } from "./guard-transport.ts";
import { readLease, writeLease } from "./lease.ts";
import { linkAbort } from "../linked-abort.ts";

/** Settles when the work has: "lost" if the lease ran out or was taken before that, else it was given back. */
export async function lead(election: Election, { lease, validUntilMs }: HeldLease): Promise<"lost" | "ended"> {
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
    if (remainingMs() > 0) await giveBack();
  }
  return end.signal.aborted && !election.signal.aborted ? "lost" : "ended";

  async function renew(): Promise<void> {
    for (let pauseMs = timings.retryMs; (await pause(pauseMs)) && remainingMs() > 0;) {
      try {
        pauseMs = (await renewOnce()) ? timings.retryMs : 0;
      } catch (error) {
        report(error);
        pauseMs = timings.retryMs / 2;
      }
    }
  }

  /** Whether it is renewed; else the next try is made of what was found. */
  async function renewOnce(): Promise<boolean> {
    const sentMs = clock.nowMs();
    const limits = { timeoutMs: Math.min(requestMs, remainingMs()) };
    try {
      lease = await writeLease(transport, lease, election.claim(lease.transitions), limits);
      // An answer that comes too late leads nobody on: the work was told to end.
      if (remainingMs() > 0) holdUntil(sentMs + timings.renewDeadlineMs);
      return true;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
    }
    // Written by a renewal whose answer was lost, or by someone who put a label on it; or it is no longer ours.
    const found = await readLease(transport, name, limits);
    if (found?.holder === identity) {
      lease = found;
    } else {
      validUntilMs = -Infinity;
      end.abort(notLeading(found === undefined ? "the Lease was deleted" : `the Lease is "${found.holder}"'s`));
    }
    return false;
  }

  function holdUntil(deadlineMs: number): void {
    validUntilMs = deadlineMs;
    end.in(clock, remainingMs(), () => notLeading(`not renewed for ${timings.renewDeadlineMs} ms`));
  }

  /** Whoever comes next need not wait. Failing that, they wait. */
  async function giveBack(): Promise<void> {
    validUntilMs = -Infinity;
    try {
      await writeLease(transport, lease, election.waiver(lease), { timeoutMs: timings.retryMs });
    } catch (error) {
      report(error);
    }
  }

  function pause(ms: number): Promise<boolean> {
    return sleep(clock, ms, workEnded.signal).then(
      () => true,
      () => false,
    );
  }

  function notLeading(words: string): KubeError {
    return new KubeError(`lead by Lease ${name.namespace}/${name.name}`, "NotLeading", { words });
  }
}
