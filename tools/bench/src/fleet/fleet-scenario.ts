// SPDX-License-Identifier: Apache-2.0
/**
 * fleetScenario lists the measured steps in their order. Node states, and then policies, are created and deleted in
 * each round.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Fleet } from "./fleet.ts";
import { firstPolicy, morePolicies } from "./fleet-objects.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { profiles } from "./fleet-profile.ts";
import type { Step } from "./measure-step.ts";

export interface Scenario {
  readonly fleet: Fleet;
  readonly options: FleetOptions;
  /** Starts the operator, and first stops the running one, if any. */
  readonly startOperator: () => Promise<void>;
  readonly stopOperator: () => Promise<void>;
}

export function fleetScenario({ fleet, options, startOperator, stopOperator }: Scenario): readonly Step[] {
  const profile = profiles[options.profile];
  const others = morePolicies(profile, options.policies - 1);
  const isEmpty = (spec: SriovNetworkNodeStateSpec) => (spec.interfaces ?? []).length === 0;

  const roundOf = (round: number): readonly Step[] => [
    {
      id: "first-policy",
      round,
      act: () => fleet.applyPolicy(firstPolicy(profile.numVfs)),
      wanted: (spec) => groupCount(spec) === 1 && firstNumVfs(spec) === profile.numVfs,
    },
    {
      id: "change-num-vfs",
      round,
      act: () => fleet.applyPolicy(firstPolicy(profile.changedNumVfs)),
      wanted: (spec) => groupCount(spec) === 1 && firstNumVfs(spec) === profile.changedNumVfs,
    },
    ...(others.length === 0
      ? []
      : [
          {
            id: "more-policies",
            round,
            act: async () => {
              await Promise.all(others.map((policy) => fleet.applyPolicy(policy)));
            },
            wanted: (spec) => groupCount(spec) === options.policies,
          } satisfies Step,
        ]),
    { id: "label", round, act: () => fleet.labelNode(`rack-${round}`) },
    ...(round === options.rounds
      ? [{ id: "restart", round: 1, act: startOperator, startsOperator: true } as const]
      : []),
    { id: "delete-policies", round, act: () => fleet.deletePolicies(), wanted: isEmpty },
  ];

  const prepareStart = async (): Promise<void> => {
    await stopOperator();
    await fleet.deleteStates();
  };
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1);

  return [
    ...rounds.map((round): Step => {
      const prepare = round === 1 ? {} : { prepare: prepareStart };
      return { id: "start", round, ...prepare, act: startOperator, startsOperator: true, wanted: isEmpty };
    }),
    { id: "report", round: 1, act: () => fleet.reportAll() },
    ...rounds.flatMap(roundOf),
  ];
}

/** The number of VF groups: one per policy, because no two policies use the same VF. */
function groupCount(spec: SriovNetworkNodeStateSpec): number {
  return (spec.interfaces ?? []).reduce((sum, { vfGroups = [] }) => sum + vfGroups.length, 0);
}

function firstNumVfs(spec: SriovNetworkNodeStateSpec): number | undefined {
  return spec.interfaces?.[0]?.numVfs;
}
