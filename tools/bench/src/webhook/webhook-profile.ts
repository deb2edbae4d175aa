// SPDX-License-Identifier: Apache-2.0
/**
 * What the nodes have that a webhook is measured with: those of the fleet's bench, whose nodes are alike but for addresses,
 * and one in which no two nodes are. Pure.
 * Usage: `reportedInterfaces(webhookProfiles["vf256-in-pods"], 7)`
 */
import type { InterfaceStatus } from "@switchyard/api";
import { interfacesOf, profiles, type FleetProfile } from "../fleet/fleet-profile.ts";

export interface WebhookProfile extends FleetProfile {
  /** VFs of each PF that pods have, others on each node. The host does not see their interfaces. */
  readonly vfsInPods: number;
}

export const webhookProfiles = {
  pf6: { ...profiles.pf6, vfsInPods: 0 },
  vf256: { ...profiles.vf256, vfsInPods: 0 },
  "vf256-in-pods": { ...profiles.vf256, vfsInPods: 10 },
} as const satisfies Record<string, WebhookProfile>;

export type WebhookProfileName = keyof typeof webhookProfiles;

export const webhookProfileNames = Object.keys(webhookProfiles).filter(
  (name): name is WebhookProfileName => name in webhookProfiles,
);

/** status.interfaces of node number `node`. */
export function reportedInterfaces(profile: WebhookProfile, node: number): readonly InterfaceStatus[] {
  return interfacesOf(profile, node).map((pf, place) => {
    if (pf.Vfs === undefined) return pf;
    const inPods = someOf(pf.Vfs.length, { count: profile.vfsInPods, seed: node * profile.pfs + place });
    return {
      ...pf,
      Vfs: pf.Vfs.map(({ name, ...vf }) => (inPods.has(vf.vfID) ? vf : { ...vf, ...(name && { name }) })),
    };
  });
}

/** `count` of the first `all` numbers, by a linear congruential generator: the same ones in each run. */
function someOf(all: number, { count, seed }: { readonly count: number; readonly seed: number }): ReadonlySet<number> {
  const chosen = new Set<number>();
  for (let state = seed; chosen.size < count;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    chosen.add((state >> 16) % all);
  }
  return chosen;
}
