// SPDX-License-Identifier: Apache-2.0
/**
 * The profiles of nodes for the webhook benchmark: those of the fleet benchmark, whose nodes differ in their
 * addresses only, and one whose nodes all differ. Pure.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { interfacesOf, profiles, type FleetProfile } from "../fleet/fleet-profile.ts";

export interface WebhookProfile extends FleetProfile {
  /** Number of VFs of each PF that are in pods, different ones on each node. The host does not see their interfaces. */
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

/** `count` of the numbers below `all`, from a linear congruential generator, so that each run has the same ones. */
function someOf(all: number, { count, seed }: { readonly count: number; readonly seed: number }): ReadonlySet<number> {
  const chosen = new Set<number>();
  for (let state = seed; chosen.size < count;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    chosen.add((state >> 16) % all);
  }
  return chosen;
}
