// SPDX-License-Identifier: Apache-2.0
/**
 * createLeftProgramsPass runs left-programs.ts in the passes of the daemon, while afxdp-device-plugin is not wanted on the node, until
 * nothing of it is left.
 * Usage: `const pass = createLeftProgramsPass({ left, withDeadline, isPluginWanted, log, onProblem }); const requeue = await pass.run(signal);`
 */
import { HostError } from "@switchyard/host";
import type { Requeue } from "@switchyard/kube";
import type { PlanProblem } from "@switchyard/plan";
import type { Logger } from "@switchyard/service";
import type { WithDeadline } from "../../deadlines/with-deadline.ts";
import { freeNow, settlingMs } from "./free-since.ts";
import type { LeftPrograms, LeftProgramsState } from "./left-programs.ts";

export interface LeftProgramsPassDeps {
  readonly left: LeftPrograms;
  readonly withDeadline: WithDeadline;
  /** Whether afxdp-device-plugin has to run on the node, or may have to. */
  readonly isPluginWanted: () => boolean;
  readonly log: Logger;
  /** Called with each new problem. */
  readonly onProblem: (message: string) => void;
}

export interface LeftProgramsPass {
  /** Resolves with the time until the next call; undefined if there is nothing to wait for. Never rejects, except on abort. */
  run(signal: AbortSignal): Promise<Requeue | undefined>;
  /** Of the last run, for the status of the node. */
  problems(): readonly PlanProblem[];
}

/** Pods can end without an event on the host, and the plugin may run for some seconds after it is no longer wanted. */
const recheckMs = 60_000;

export function createLeftProgramsPass(deps: LeftProgramsPassDeps): LeftProgramsPass {
  const { left, withDeadline, log } = deps;
  let problems: readonly string[] = [];
  /** Whether an earlier run found nothing. */
  let wasEmpty = false;
  let said = "";

  async function release(signal: AbortSignal): Promise<LeftProgramsState> {
    const failed = (problem: string): LeftProgramsState => ({ released: [], kept: [], problems: [problem] });
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
      if (released.length > 0) log.info({ devices: released }, "XDP programs of afxdp-device-plugin detached");
      const words = JSON.stringify(kept);
      if (words !== said && kept.length > 0) log.info({ kept }, "devices keep the XDP programs of afxdp-device-plugin");
      said = words;
      for (const message of found.filter((each) => !problems.includes(each))) {
        log.warn({ error: message }, "XDP programs not detached; retrying");
        deps.onProblem(message);
      }
      problems = found;
      if (found.length > 0 || kept.some(({ why }) => why === freeNow)) return { afterMs: settlingMs };
      const isEmpty = kept.length === 0 && released.length === 0;
      if (isEmpty && wasEmpty) return undefined;
      wasEmpty = isEmpty;
      return { afterMs: recheckMs };
    },
  };
}
