// SPDX-License-Identifier: Apache-2.0
/**
 * createUncleanVfs finds VFs that a past pod has left with other settings than those of the new VF. A CNI plugin restores them when a
 * pod ends, unless it is not called, or its own state is lost. The next pod would then send with the MAC address, the VLAN and the rights
 * of the past one.
 *
 * Only a VF that is free by positive evidence counts: the kubelet answers and lists no pod with it, and its interface is in no other
 * network namespace. The first look only begins the time, because a plugin may be restoring the settings at this moment. From the second
 * look on, the device plugin does not offer the VF. It is reset when it has been free for 30 seconds and the kubelet cannot give it to a
 * pod any more. Before each reset, the kubelet is asked again (isFree).
 */
import {
  defined,
  type InterfaceSpec,
  type InterfaceStatus,
  type SriovNetworkNodeStateSpec,
  type UncleanVf,
} from "@switchyard/api";
import type { PfRecord } from "@switchyard/host";
import { changedVfs, type Step } from "@switchyard/plan";
import { holderOf } from "@switchyard/policy";
import type { Kubelet } from "../kubelet/kubelet.ts";
import type { Observation } from "../observe/observe.ts";
import { changedSettings, groupedVfs, initialSettings, recordedIn } from "./initial-settings.ts";

export interface UncleanVfsDeps {
  readonly kubelet: Pick<Kubelet, "readHolders" | "readOffered">;
  readonly nowMs: () => number;
}

export interface UncleanVfs {
  /** Returns the PFs, with `unclean` at VFs. `before` is the previous status, which a restarted daemon continues. */
  addTo(
    found: Pick<Observation, "interfaces" | "holders" | "records" | "bootId">,
    given: { readonly desired: SriovNetworkNodeStateSpec; readonly before: readonly InterfaceStatus[] },
    signal: AbortSignal,
  ): Promise<readonly InterfaceStatus[]>;
  /** Asks the kubelet, and reports whether no pod has the VF. */
  readonly isFree: (vf: string, signal: AbortSignal) => Promise<boolean>;
  /** Returns what the record of a PF must have of its VFs. `isSettled` if the plan has no steps for the PF. */
  toRecord(
    spec: InterfaceSpec,
    pf: InterfaceStatus,
    given: Pick<Observation, "holders" | "bootId"> & {
      readonly recorded: PfRecord["initialVfs"];
      readonly isSettled: boolean;
    },
  ): PfRecord["initialVfs"];
  stepEnded(step: Step): void;
  /** Milliseconds until the result of addTo() can change without an event; undefined if it cannot. */
  nextChangeMs(): number | undefined;
}

const secondLookMs = 1_000;

const freeMs = 30_000;

/** Time until the kubelet is asked again whether a device plugin offers the VF. */
const offeredMs = 15_000;

export function createUncleanVfs({ kubelet, nowMs }: UncleanVfsDeps): UncleanVfs {
  /** When VFs that are free were first seen with other settings, by PCI address. */
  const seen = new Map<string, { readonly sinceMs: number; readonly looks: number }>();
  /** PFs whose VFs the daemon has created, and which it has not recorded since. */
  const created = new Set<string>();
  let waitMs: number | undefined;

  function waitFor(ms: number): void {
    waitMs = Math.min(waitMs ?? ms, ms);
  }

  /** Returns how long the VF has been free with these settings; undefined before the second look. */
  function freeFor(vf: string, wasReported: boolean): number | undefined {
    const known = seen.get(vf);
    const next = { sinceMs: known?.sinceMs ?? nowMs(), looks: known === undefined && !wasReported ? 1 : 2 };
    const isTooSoon = known?.looks === 1 && nowMs() - known.sinceMs < secondLookMs;
    if (!isTooSoon) seen.set(vf, next);
    if (isTooSoon || next.looks === 1) {
      waitFor(secondLookMs);
      return undefined;
    }
    return nowMs() - next.sinceMs;
  }

  /** Reports whether no device plugin offers the VF, so that the kubelet cannot give it to a pod. */
  async function isWithheld(due: readonly string[], signal: AbortSignal): Promise<(vf: string) => boolean> {
    if (due.length === 0) return () => false;
    const offered = await kubelet.readOffered(signal);
    if (!offered.ok || due.some((vf) => offered.value.has(vf))) waitFor(offeredMs);
    return (vf) => offered.ok && !offered.value.has(vf);
  }

  return {
    async addTo({ interfaces, holders, records, bootId }, { desired, before }, signal) {
      waitMs = undefined;
      const reported = new Set(
        before.flatMap(({ Vfs = [] }) => Vfs.flatMap((vf) => (vf.unclean ? [vf.pciAddress] : []))),
      );
      const specs = new Map((desired.interfaces ?? []).map((spec) => [spec.pciAddress, spec]));
      const byAddress = new Map<string, PfRecord>(records);
      const unclean = new Map<string, UncleanVf>();
      const stillSeen = new Set<string>();
      const due: string[] = [];
      for (const pf of interfaces) {
        const spec = specs.get(pf.pciAddress);
        if (spec === undefined || spec.externallyManaged === true) continue;
        const initial = recordedIn(byAddress.get(pf.pciAddress)?.initialVfs, bootId);
        for (const { vf } of groupedVfs(spec, pf)) {
          const ofVf = initial[vf.vfID];
          const settings = ofVf === undefined ? [] : changedSettings(ofVf, vf);
          const holder = settings.length === 0 ? undefined : holderOf(defined({ holders }), vf);
          const { pciAddress } = vf;
          if (holder === "unknown" && reported.has(pciAddress)) unclean.set(pciAddress, { settings });
          if (holder !== "free") continue;
          stillSeen.add(pciAddress);
          const ms = freeFor(pciAddress, reported.has(pciAddress));
          if (ms === undefined) continue;
          unclean.set(pciAddress, { settings });
          if (ms >= freeMs) due.push(pciAddress);
          else waitFor(freeMs - ms);
        }
      }
      for (const vf of seen.keys()) if (!stillSeen.has(vf)) seen.delete(vf);
      if (unclean.size === 0) return interfaces;
      const canReset = await isWithheld(due, signal);
      return interfaces.map((pf) => ({
        ...pf,
        ...(pf.Vfs && {
          Vfs: pf.Vfs.map((vf) => {
            const of = unclean.get(vf.pciAddress);
            if (of === undefined) return vf;
            const reset = due.includes(vf.pciAddress) && canReset(vf.pciAddress);
            return { ...vf, unclean: { ...of, ...(reset && { reset }) } };
          }),
        }),
      }));
    },
    async isFree(vf, signal) {
      const held = await kubelet.readHolders(signal, { isFresh: true });
      return held.ok && !held.value.isNewKubelet && !held.value.byId.has(vf);
    },
    toRecord(spec, pf, { recorded, isSettled, bootId, holders }) {
      if (!isSettled) return recorded;
      const areNew = created.delete(pf.pciAddress);
      return initialSettings(spec, pf, { recorded, bootId, holders, areNew });
    },
    stepEnded(step) {
      const changed = changedVfs(step);
      if (changed?.vfId === "all") created.add(changed.pciAddress);
    },
    nextChangeMs: () => waitMs,
  };
}
