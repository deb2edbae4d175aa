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
import { waitForLease } from "./wait-for-lease.ts";
import { createElection } from "./election.ts";
import type { LeaderElectionOptions } from "./leader-election-options.ts";
import { lead } from "./lead.ts";

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
