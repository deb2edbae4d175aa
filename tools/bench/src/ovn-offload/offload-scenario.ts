// SPDX-License-Identifier: Apache-2.0
/**
 * offloadScenario lists the measured steps in their order: in each round all pools are selected, and everything is restored.
 */
import type { OffloadFleet } from "./offload-fleet.ts";
import type { OffloadStepId } from "./offload-step-result.ts";
import type { OffloadView } from "./offload-view.ts";
import type { OvnOffloadOptions } from "./ovn-offload-options.ts";

export interface OffloadStep {
  readonly id: OffloadStepId;
  readonly round: number;
  /** Causes the step. The time of the step begins when it is done. */
  readonly act: () => Promise<void>;
  /** Whether the result of the step is there; absent if nothing must be written. */
  readonly isDone?: (view: OffloadView) => boolean;
  /** Whether the step starts a new process, whose whole CPU time belongs to the step. */
  readonly startsService?: boolean;
}

export interface OffloadScenario {
  readonly fleet: OffloadFleet;
  readonly options: Pick<OvnOffloadOptions, "rounds">;
  /** The cluster before the first selection. */
  readonly before: OffloadView;
  /** Starts the service, and first stops the running one, if any. */
  readonly startService: () => Promise<void>;
}

export function offloadScenario({ fleet, options, before, startService }: OffloadScenario): readonly OffloadStep[] {
  const { hosts, pools } = fleet;
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1);
  const isReady = (view: OffloadView, all: number) =>
    view.published === all && view.labelled === all && view.condition === "True";

  const roundOf = (round: number): readonly OffloadStep[] => [
    {
      id: "select",
      round,
      async act() {
        await fleet.report("plain"); // the VFs of the former round are gone
        await fleet.select();
      },
      isDone: (view) => view.marked === hosts && view.policies === pools && view.isDnsPlaced,
    },
    { id: "vfs", round, act: () => fleet.report("with-vfs"), isDone: (view) => view.machineConfigs === pools },
    { id: "boot", round, act: () => fleet.boot(true), isDone: (view) => isReady(view, hosts) },
    { id: "idle", round, act: () => Promise.resolve() },
    { id: "label", round, act: () => fleet.labelNode(`rack-${round}`) },
    { id: "report", round, act: () => fleet.reportMtu(9000 + round) },
    ...(round === options.rounds
      ? ([{ id: "restart", round: 1, act: startService, startsService: true }] as const)
      : []),
    { id: "add", round, act: () => fleet.addHost(), isDone: (view) => isReady(view, hosts + 1) },
    { id: "remove", round, act: () => fleet.removeHost(), isDone: (view) => isReady(view, hosts) },
    { id: "deselect", round, act: () => fleet.deselect(), isDone: (view) => view.machineConfigs === 0 },
    {
      id: "restore",
      round,
      act: () => fleet.boot(false),
      isDone: (view) => withoutRack(view.all) === withoutRack(before.all),
    },
  ];
  return [{ id: "start", round: 1, act: startService, startsService: true }, ...rounds.flatMap(roundOf)];
}

/** Removes the label that the scenario itself sets. */
function withoutRack(all: string): string {
  return all.replace(/"example\.com\/rack":"[^"]*",?/g, "");
}
