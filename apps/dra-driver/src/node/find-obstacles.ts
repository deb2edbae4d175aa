// SPDX-License-Identifier: Apache-2.0
import type { SriovNetworkNodeState } from "@switchyard/api";
import { changingVfs, unreadyVfs } from "@switchyard/plan";
import { hasVf } from "@switchyard/policy";
import { describeHolder, describeUnready, holdersOf } from "../slices/withheld-from-claims.ts";
import type { KubeletReader } from "./read-kubelet.ts";

export interface ObstacleDeps {
  readonly state: SriovNetworkNodeState | undefined;
  readonly kubelet: Pick<KubeletReader, "readNow">;
  readonly signal: AbortSignal;
}

/**
 * findObstacles returns why VFs cannot be given to a claim now, by address. The scheduler may have allocated a VF before it was withdrawn.
 * Rejects if the kubelet does not say who has the VFs: then each may be held.
 */
export async function findObstacles(
  addresses: readonly string[],
  { state, kubelet, signal }: ObstacleDeps,
): Promise<ReadonlyMap<string, string>> {
  const obstacles = new Map<string, string>();
  const asked = new Set(addresses);
  const found = await kubelet.readNow(signal);
  if (!found.ok) throw new Error(`the kubelet does not say which pods have VFs: ${found.error}`);
  for (const address of addresses) {
    const [holder] = holdersOf(found.value, address);
    if (holder !== undefined) obstacles.set(address, describeHolder(address, holder));
    else if (found.value.offered.has(address)) {
      obstacles.set(address, `a device plugin offers VF ${address} to pods, so the claim of the VF is too late`);
    }
  }
  if (state === undefined) return obstacles;
  const unready = unreadyVfs(state);
  const changing = changingVfs(state);
  for (const { pciAddress, Vfs = [] } of state.status?.interfaces ?? []) {
    for (const vf of Vfs) {
      if (!asked.has(vf.pciAddress) || obstacles.has(vf.pciAddress)) continue;
      const cause = unready(pciAddress, vf) ?? (hasVf(changing, pciAddress, vf.vfID) ? "changing" : undefined);
      if (cause !== undefined) obstacles.set(vf.pciAddress, describeUnready(vf.pciAddress, cause));
    }
  }
  return obstacles;
}
