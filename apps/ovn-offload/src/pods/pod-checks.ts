// SPDX-License-Identifier: Apache-2.0
/**
 * PodChecks knows the waiting pods of each host. The pods of a host are listed about once a minute and not kept: a watch of all
 * pods of a large cluster would need more memory than everything else. Decisions wait for the lists, so each round has few hosts;
 * those of a large cluster take turns.
 */
import { pods } from "@switchyard/api";
import { listPages, type KubeObject, type Transport } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { waitingPods, type WaitingPods } from "./waiting-pods.ts";

export interface PodChecksDeps {
  readonly transport: Transport;
  readonly now: () => Date;
  /** Called for a host whose pods cannot be listed. Its last result stays. */
  readonly report: (error: unknown, node: string) => void;
}

export interface PodChecks {
  /** Undefined before the first list. */
  of(node: string): WaitingPods | undefined;
  /**
   * Lists the pods of the hosts whose last list is oldest, if it is due, and forgets hosts that are not in `nodes`. Never
   * rejects.
   */
  recheck(nodes: readonly string[], signal: AbortSignal): Promise<void>;
}

const intervalMs = 60_000;

/** Number of hosts in a round, and least time between rounds: two lists a second at most. */
const maxHosts = 20;
const roundMs = 10_000;

/** Number of lists at the same time. */
const parallel = 4;

export function createPodChecks({ transport, now, report }: PodChecksDeps): PodChecks {
  const checks = new Map<string, { readonly atMs: number; readonly found: WaitingPods | undefined }>();
  let lastRoundMs = -Infinity;

  async function list(node: string, signal: AbortSignal): Promise<WaitingPods> {
    const all: KubeObject[] = [];
    const fieldSelector = `spec.nodeName=${node}`;
    for await (const { items } of listPages(transport, { type: pods, fieldSelector, pageSize: 500, signal })) {
      all.push(...items);
    }
    return waitingPods(all, now());
  }

  return {
    of: (node) => checks.get(node)?.found,
    async recheck(nodes, signal) {
      const wanted = new Set(nodes);
      for (const node of checks.keys()) if (!wanted.has(node)) checks.delete(node);
      const atMs = now().getTime();
      if (atMs - lastRoundMs < roundMs) return;
      const lastOf = (node: string): number => checks.get(node)?.atMs ?? -Infinity;
      const due = nodes.filter((node) => atMs - lastOf(node) >= intervalMs);
      if (due.length === 0) return;
      lastRoundMs = atMs;
      const oldest = due
        .toSorted((a, b) => (lastOf(a) < lastOf(b) ? -1 : lastOf(a) > lastOf(b) ? 1 : 0))
        .slice(0, maxHosts);
      await mapConcurrently(oldest, parallel, async (node) => {
        try {
          checks.set(node, { atMs, found: await list(node, signal) });
        } catch (error) {
          checks.set(node, { atMs, found: checks.get(node)?.found });
          if (!signal.aborted) report(error, node);
        }
      });
    },
  };
}
