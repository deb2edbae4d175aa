// SPDX-License-Identifier: Apache-2.0
/**
 * uninstallAndGiveBack uninstalls the components and then gives the hosts back on which Switchyard's config daemon has run.
 */
import type { CommandDeps, TimeLimit } from "../command.ts";
import type { CleanupPodOptions } from "./cleanup-pod.ts";
import { giveHostsBack } from "./give-hosts-back.ts";
import { forgetHosts, hostRecordName, recordHosts } from "./host-record.ts";
import { readLeftovers } from "./leftovers.ts";
import { uninstall, type UninstallDeps } from "./uninstall.ts";

export interface GiveBackDeps extends UninstallDeps {
  /** Starts the time for the hosts. */
  readonly startHandback: () => TimeLimit;
}

/** Exit code if the components are gone, but a host was not given back. */
export const exitHostsRemain = 2;

const pollMs = 500;

/** Resolves with 0, with 1 if something blocks the cluster, and with exitHostsRemain. */
export async function uninstallAndGiveBack(deps: GiveBackDeps, options: CleanupPodOptions): Promise<number> {
  const { print, fail } = deps;
  const { namespace } = options;
  const nodes = await recordHosts(deps, namespace);
  if (nodes.length > 0) {
    print(`hosts to give back: ${nodes.length}; their nodes are recorded in ConfigMap ${hostRecordName}`);
  }
  if (!(await uninstall({ ...deps, givesHostsBack: true }, namespace))) {
    if (nodes.length > 0) fail("no host was given back, because the uninstallation is not complete");
    return 1;
  }
  if (nodes.length === 0) {
    print(
      "no node has a state of SR-IOV or AF_XDP, so it is not known which hosts were configured: none is given back",
    );
    return 0;
  }
  using limit = deps.startHandback();
  await waitForDaemonSets({ ...deps, limit }, namespace);
  const left = await giveHostsBack({ ...deps, limit }, nodes, options);
  using last = deps.startLastLimit();
  await forgetHosts({ ...deps, limit: last }, namespace, left);
  if (left.length === 0) {
    print("all hosts are given back");
    return 0;
  }
  fail(`${left.length} of ${nodes.length} hosts were not given back: ${summary(left)}; repeat the command for them`);
  return exitHostsRemain;
}

/** A config daemon that still runs would configure the host again. Rejects with CommandError TIMED_OUT. */
async function waitForDaemonSets(deps: CommandDeps, namespace: string): Promise<void> {
  for (;;) {
    const { daemonSets } = await readLeftovers(deps, namespace);
    if (daemonSets.length === 0) return;
    await deps.limit.pause(pollMs, `DaemonSet ${daemonSets.join(", ")} is left, so no host was given back`);
  }
}

function summary(nodes: readonly string[]): string {
  const most = 20;
  return nodes.length > most ? `${nodes.slice(0, most).join(", ")} and ${nodes.length - most} more` : nodes.join(", ");
}
