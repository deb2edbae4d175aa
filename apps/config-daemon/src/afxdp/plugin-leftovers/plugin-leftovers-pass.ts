// SPDX-License-Identifier: Apache-2.0
/**
 * createPluginLeftoversPass removes what the plugins of upstream have left in the passes of the daemon. On a node where they never ran, it
 * reads one directory; the rest is loaded when there is a record.
 */
import {
  createOrphanedProgramsPass,
  recheckMs,
  type OrphanedProgramsMessages,
  type OrphanedProgramsPass,
  type OrphanedProgramsPassDeps,
} from "../orphaned-programs/orphaned-programs-pass.ts";
import type { OrphanedProgramsDeps } from "../orphaned-programs/orphaned-programs.ts";
import type { PluginLeftoversRemoval } from "./plugin-leftovers.ts";
import type { WantedFromPlugins } from "./wanted-from-plugins.ts";

export interface PluginLeftoversPassDeps
  extends OrphanedProgramsDeps, Pick<OrphanedProgramsPassDeps, "withDeadline" | "log" | "onProblem"> {
  /** Returns undefined as long as it is not known. */
  readonly wanted: () => WantedFromPlugins | undefined;
}

const messages: OrphanedProgramsMessages = {
  released: "leftovers of the plugins of upstream removed",
  kept: "leftovers of the plugins of upstream stay for now",
  failed: "leftovers of the plugins of upstream not removed; retrying",
};

export function createPluginLeftoversPass({
  wanted,
  readKubelet,
  nowMs,
  ...deps
}: PluginLeftoversPassDeps): OrphanedProgramsPass {
  let removal: PluginLeftoversRemoval | undefined;
  return createOrphanedProgramsPass({
    ...deps,
    messages: messages,
    isPluginWanted: () => wanted() === undefined,
    retryMs: recheckMs, // a program that another one uses can stay for years
    left: {
      async release(host, signal) {
        const present = wanted();
        const nothing = { released: [], kept: [], problems: [] };
        if (present === undefined || (await host.pluginLeftovers.listDevices()).length === 0) return nothing;
        const { createPluginLeftovers } = await import("./plugin-leftovers.ts");
        removal ??= createPluginLeftovers({ readKubelet, nowMs });
        return removal.release(host, { wanted: present }, signal);
      },
    },
  });
}
