// SPDX-License-Identifier: Apache-2.0
/**
 * createWithheldVfs prepares a drain of single VFs: these VFs are announced, device-plugin-config no longer offers them, and the status
 * names all pods that have them. Only then is the drain requested. So no pod can get such a VF during the drain, and the node
 * can stay schedulable.
 *
 * It is level-based: a daemon that starts again, or a plan with other VFs, begins again. What cannot be prepared in time becomes
 * a drain of the node.
 */
import type { VfStatus } from "@switchyard/api";
import { formatVfSet, hasVf, holderOf, type HeldVfs, type VfSet } from "@switchyard/policy";
import type { HoldersAnswer, Kubelet } from "../kubelet/kubelet.ts";

export interface WithheldVfsDeps {
  readonly kubelet: Pick<Kubelet, "readHolders" | "readOffered">;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/**
 * "ready": the VFs are not offered, and `found` names the pods that have them. "wait": look again when nextChangeMs() says.
 * "impossible": the drain must be one of the node.
 */
export type Preparation = "ready" | "wait" | "impossible";

export interface WithheldVfs {
  /** To be called once the VFs are announced. `found` is the last report. Rejects if the signal has aborted. */
  prepare(vfs: VfSet, found: HeldVfs, signal: AbortSignal): Promise<Preparation>;
  /** To be called while no drain is prepared. */
  forget(): void;
  /** Time until the next look; undefined if none is due. */
  nextChangeMs(): number | undefined;
}

/** A plugin restarts within seconds, and a kubelet knows its pods within 30 s. */
const patienceMs = 45_000;

const pauseMs = 1_000;

export function createWithheldVfs({ kubelet, nowMs }: WithheldVfsDeps): WithheldVfs {
  let begun: { readonly vfs: string; readonly atMs: number } | undefined;
  let isWaiting = false;

  async function look(vfs: VfSet, found: HeldVfs, signal: AbortSignal): Promise<Preparation> {
    const concerned = vfsIn(found, vfs);
    const offered = await kubelet.readOffered(signal);
    if (!offered.ok) return "impossible";
    if ([...vfs.keys()].some((pf) => offered.value.has(pf))) return "impossible"; // as a device for AF_XDP
    if (concerned.some(({ pciAddress }) => offered.value.has(pciAddress))) return "wait";
    // Afterwards: no pod gets a VF that is not offered, so the holders can only become fewer.
    const held = await kubelet.readHolders(signal, { isFresh: true });
    if (!held.ok || [...vfs.keys()].some((pf) => held.value.byId.has(pf))) return "impossible";
    return concerned.every((vf) => isReported(vf, held.value, found)) ? "ready" : "wait";
  }

  return {
    async prepare(vfs, found, signal) {
      const text = formatVfSet(vfs);
      if (begun?.vfs !== text) begun = { vfs: text, atMs: nowMs() };
      const preparation = found.holders === undefined ? "impossible" : await look(vfs, found, signal);
      isWaiting = preparation === "wait" && nowMs() - begun.atMs < patienceMs;
      return preparation === "wait" && !isWaiting ? "impossible" : preparation;
    },
    forget() {
      begun = undefined;
      isWaiting = false;
    },
    nextChangeMs: () => (isWaiting ? pauseMs : undefined),
  };
}

/** The VFs of the set that exist. */
function vfsIn({ interfaces = [] }: HeldVfs, vfs: VfSet): readonly VfStatus[] {
  return interfaces.flatMap(({ pciAddress, Vfs = [] }) => Vfs.filter(({ vfID }) => hasVf(vfs, pciAddress, vfID)));
}

/** Reports whether the status names the pod that has the VF, or its last pod. */
function isReported(vf: VfStatus, { byId, isNewKubelet }: HoldersAnswer, found: HeldVfs): boolean {
  const pods = byId.get(vf.pciAddress) ?? [];
  const reported = holderOf(found, vf);
  if (isNewKubelet || reported === "unknown") return false;
  const isSame = (pod: (typeof pods)[number]): boolean =>
    reported !== "free" &&
    pod.name === reported.name &&
    pod.namespace === reported.namespace &&
    (pod.uid ?? reported.uid) === (reported.uid ?? pod.uid);
  return pods.every(isSame);
}
