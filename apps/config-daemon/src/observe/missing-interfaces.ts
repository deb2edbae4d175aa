// SPDX-License-Identifier: Apache-2.0
/**
 * createMissingInterfaces finds VFs whose kernel driver has not created their network interface. A VF whose interface is in a pod
 * looks the same on the host. Therefore a VF counts only if the daemon has created it, bound its driver or set its address, has
 * not seen its interface since, and the kubelet lists no pod that has it. Everything else is unknown, as is everything while
 * the kubelet does not answer: pods can also have VFs by resource claims or without the kubelet's knowledge.
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec, VfStatus } from "@switchyard/api";
import { changedVfs, vfsWithoutInterface, type Step } from "@switchyard/plan";
import type { ReadHolders } from "../kubelet/kubelet.ts";

export interface MissingInterfacesDeps {
  readonly readHolders: ReadHolders;
  readonly nowMs: () => number;
  /** Time after which a driver is bound again. */
  readonly graceMs: number;
}

export interface MissingInterfaces {
  /** Returns the PFs, with `missingInterface` at VFs. `before` is the previous status, which a restarted daemon continues. */
  addTo(
    found: readonly InterfaceStatus[],
    given: { readonly desired: SriovNetworkNodeStateSpec; readonly before: readonly InterfaceStatus[] },
    signal: AbortSignal,
  ): Promise<readonly InterfaceStatus[]>;
  stepEnded(step: Step, hasFailed: boolean): void;
  /** Milliseconds until the result of addTo() can change without an event; undefined if it cannot. */
  nextChangeMs(): number | undefined;
}

/** The interface of a VF can vanish for a moment, because i40e and ice reset a VF when its address is set (6.12). */
const secondLookMs = 1_000;

/** Time until the kubelet is asked again. */
const unknownMs = 60_000;

export function createMissingInterfaces({ readHolders, nowMs, graceMs }: MissingInterfacesDeps): MissingInterfaces {
  /** PFs and VFs on which the daemon has acted, and whose interfaces it has not seen since. */
  const freshPfs = new Set<string>();
  const fresh = new Set<string>();
  /** VFs on whose interface a step has waited in vain. */
  const waitedFor = new Set<string>();
  const missing = new Map<string, Missing>();
  let isUnknown = false;

  /** Returns the VFs that may have no interface at all, and updates what is known about all others. */
  function candidates(found: readonly InterfaceStatus[], desired: SriovNetworkNodeStateSpec): readonly Candidate[] {
    const specs = new Map((desired.interfaces ?? []).map((spec) => [spec.pciAddress, spec]));
    return found.flatMap((pf) => {
      const spec = specs.get(pf.pciAddress);
      const without = new Set(spec === undefined ? [] : vfsWithoutInterface(spec, pf).map(({ vfID }) => vfID));
      const isFresh = freshPfs.delete(pf.pciAddress);
      return (pf.Vfs ?? []).flatMap((vf) => {
        const key = keyOf(pf.pciAddress, vf.vfID);
        if (isFresh) fresh.add(key);
        if (without.has(vf.vfID)) return [{ key, vf }];
        if (vf.name || !vf.driver) fresh.delete(key);
        missing.delete(key);
        waitedFor.delete(key);
        return [];
      });
    });
  }

  function look({ key, vf }: Candidate, before: VfStatus | undefined): VfStatus["missingInterface"] {
    const known = missing.get(key);
    const wasMissing = before?.driver === vf.driver ? before?.missingInterface : undefined;
    if (known === undefined && !fresh.has(key) && !wasMissing) return undefined;
    const isKnown = Boolean(wasMissing) || waitedFor.delete(key);
    const next = known ?? { sinceMs: nowMs(), looks: isKnown ? 1 : 0, isBoundAgain: wasMissing === "permanent" };
    missing.set(key, { ...next, looks: next.looks + 1 });
    if (next.looks === 0) return undefined;
    if (next.isBoundAgain) return "permanent";
    return nowMs() - next.sinceMs >= graceMs ? "rebind" : "waiting";
  }

  return {
    async addTo(found, { desired, before }, signal) {
      isUnknown = false;
      const vfs = candidates(found, desired);
      const previous = new Map(before.flatMap((pf) => (pf.Vfs ?? []).map((vf) => [keyOf(pf.pciAddress, vf.vfID), vf])));
      const possible = vfs.filter(
        ({ key }) => fresh.has(key) || missing.has(key) || previous.get(key)?.missingInterface,
      );
      if (possible.length === 0) return found;
      const held = await readHolders(signal);
      isUnknown = !held.ok || held.value.isNewKubelet;
      if (!held.ok || held.value.isNewKubelet) return found;
      const states = new Map<string, VfStatus["missingInterface"]>();
      for (const candidate of possible) {
        const { key, vf } = candidate;
        if (held.value.byId.has(vf.pciAddress)) {
          fresh.delete(key); // it has worked for the pod
          missing.delete(key);
        } else states.set(key, look(candidate, previous.get(key)));
      }
      return found.map((pf) => {
        const withState = (vf: VfStatus): VfStatus => {
          const missingInterface = states.get(keyOf(pf.pciAddress, vf.vfID));
          return missingInterface === undefined ? vf : { ...vf, missingInterface };
        };
        return pf.Vfs === undefined ? pf : { ...pf, Vfs: pf.Vfs.map(withState) };
      });
    },
    stepEnded(step, hasFailed) {
      const needsInterface = step.kind === "set-vf-mac" || step.kind === "set-vf-mtu";
      if (needsInterface && hasFailed) waitedFor.add(keyOf(step.pciAddress, step.vfId));
      const { pciAddress = "", vfId } = changedVfs(step) ?? (step.kind === "set-vf-mac" ? step : {});
      if (vfId === "all") freshPfs.add(pciAddress);
      if (vfId === undefined || vfId === "all") return;
      const key = keyOf(pciAddress, vfId);
      fresh.add(key);
      const known = missing.get(key);
      if (known !== undefined && step.kind === "bind-driver") missing.set(key, { ...known, isBoundAgain: true });
    },
    nextChangeMs() {
      if (isUnknown) return unknownMs;
      const waits = [...missing.values()].flatMap(({ sinceMs, looks, isBoundAgain }) => {
        if (isBoundAgain) return [];
        return looks === 1 ? [secondLookMs] : [Math.max(sinceMs + graceMs - nowMs(), 0)].filter((ms) => ms > 0);
      });
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
  };
}

interface Candidate {
  readonly key: string;
  readonly vf: VfStatus;
}

interface Missing {
  /** Time of the first look without the interface. */
  readonly sinceMs: number;
  readonly looks: number;
  readonly isBoundAgain: boolean;
}

function keyOf(pf: string, vfId: number): string {
  return `${pf} ${vfId}`;
}
