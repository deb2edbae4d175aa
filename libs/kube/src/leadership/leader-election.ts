// SPDX-License-Identifier: Apache-2.0
/**
 * One of several replicas works, the others wait, by a Lease that the leader renews (coordination.k8s.io/v1). Two never
 * lead at once, whatever happens to event loops and clocks:
 *
 * - A leader counts its deadline from before it sent the renewal, on its own clock. Others count the lease's duration,
 *   which is longer, from after they saw the renewal, on theirs. No time on the wire is ever compared, and no wall clock
 *   is read but to show it to people. Clocks need the same pace only, within the margin between the two durations.
 * - Work writes through `leadership.transport`, which looks at the clock for each write (leader-election-guard.ts): a
 *   process that was frozen and thaws is refused before it has noticed anything.
 * - A lease is taken by a write that fails if anyone wrote it since it was last seen, so who froze while it waited takes
 *   nothing that was renewed meanwhile.
 * - It is given back only when the work has ended.
 *
 * Who deletes a Lease by hand takes away what the others wait by: its holder notices at its next renewal, a replica that
 * is new by then does not wait for that.
 *
 * Usage: `await runWhenLeading({ transport, lease: { namespace, name: "switchyard-operator" }, identity, signal, report,
 * onLeading: ({ transport, signal }) => runControllers(transport, signal) })`.
 */
import { waitForLease } from "./candidate.ts";
import { createElection } from "./election.ts";
import type { LeaderElectionOptions } from "./options.ts";
import { lead } from "./term.ts";

/**
 * Waits for the lease, works, and gives it back; begins again where it was lost. Resolves when `signal` aborts or the
 * work ends by itself, rejects with what the work rejects with; in each case the lease is free, or runs out by itself
 * if the server cannot be reached. Throws RangeError for timings that leave no margin.
 */
export async function runWhenLeading(options: LeaderElectionOptions): Promise<void> {
  const election = createElection(options);
  for (;;) {
    const held = await waitForLease(election);
    if (held === undefined || (await lead(election, held)) === "ended") return;
  }
}
