// SPDX-License-Identifier: Apache-2.0
/**
 * createOrphanedProgramsPass runs in each pass of the daemon while a device plugin is not wanted on the node. It
 * removes what the plugin has left: orphaned-programs.ts the programs of afxdp-device-plugin, plugin-leftovers.ts what
 * the upstream plugins left.
 */
import { HostError, type Host } from "@switchyard/host";
import type { Requeue } from "@switchyard/kube";
import type { PlanProblem } from "@switchyard/plan";
import type { Logger } from "@switchyard/service";
import type { WithDeadline } from "../../deadlines/with-deadline.ts";
import { freeNow, settlingMs, type OrphanedProgramsState } from "./orphaned-programs.ts";

export interface OrphanedProgramsPassDeps {
  /** One attempt. Rejects with HostError if the host cannot be read. */
  readonly left: { release(host: Host, signal: AbortSignal): Promise<OrphanedProgramsState> };
  readonly messages: OrphanedProgramsMessages;
  /** Time until the next attempt while there is a problem. */
  readonly retryMs: number;
  readonly withDeadline: WithDeadline;
  /** Whether all that the plugin has is wanted, or may be. */
  readonly isPluginWanted: () => boolean;
  readonly log: Logger;
  /** Called with each new problem. */
  readonly onProblem: (message: string) => void;
}

export interface OrphanedProgramsPass {
  /** Resolves with the time until the next call; undefined if there is nothing to wait for. Never rejects, except on abort. */
  run(signal: AbortSignal): Promise<Requeue | undefined>;
  /** Of the last run, for the status of the node. */
  problems(): readonly PlanProblem[];
}

/** Messages of the log. */
export interface OrphanedProgramsMessages {
  readonly released: string;
  readonly kept: string;
  readonly failed: string;
}

export const ownPluginMessages: OrphanedProgramsMessages = {
  released: "XDP programs of afxdp-device-plugin detached",
  kept: "devices keep the XDP programs of afxdp-device-plugin",
  failed: "XDP programs not detached; retrying",
};

/** Pods can end without an event on the host, and the plugin may run for some seconds after it is no longer wanted. */
export const recheckMs = 60_000;

export function createOrphanedProgramsPass(deps: OrphanedProgramsPassDeps): OrphanedProgramsPass {
  const { left, messages, withDeadline, log } = deps;
  let problems: readonly string[] = [];
  /** Whether an earlier run found nothing. */
  let wasEmpty = false;
  let said = "";

  async function release(signal: AbortSignal): Promise<OrphanedProgramsState> {
    const failed = (problem: string): OrphanedProgramsState => ({ released: [], kept: [], problems: [problem] });
    try {
      const found = await withDeadline((watched) => left.release(watched, signal));
      return found.ok ? found.value : failed(found.error);
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      return failed(thrown.message);
    }
  }

  return {
    problems: () => problems.map((message) => ({ code: "left-program", field: "status.interfaces", message })),

    async run(signal) {
      if (deps.isPluginWanted()) {
        problems = [];
        wasEmpty = false;
        return undefined;
      }
      const { released, kept, problems: found } = await release(signal);
      if (released.length > 0) log.info({ released }, messages.released);
      const words = JSON.stringify(kept);
      if (words !== said && kept.length > 0) log.info({ kept }, messages.kept);
      said = words;
      for (const message of found.filter((each) => !problems.includes(each))) {
        log.warn({ error: message }, messages.failed);
        deps.onProblem(message);
      }
      problems = found;
      if (kept.some(({ why }) => why === freeNow)) return { afterMs: settlingMs };
      if (found.length > 0) return { afterMs: deps.retryMs };
      const isEmpty = kept.length === 0 && released.length === 0;
      if (isEmpty && wasEmpty) return undefined;
      wasEmpty = isEmpty;
      return { afterMs: recheckMs };
    },
  };
}
