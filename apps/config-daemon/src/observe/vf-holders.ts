// SPDX-License-Identifier: Apache-2.0
/**
 * createVfHolders finds the pods that have the node's VFs, and the claims that they are prepared for. Only the kubelet knows the pods. It has no events, so it is asked by each pass,
 * and four times a minute while no pass runs. Most changes need no poll: the interface of a VF moves to or from the network namespace
 * of a pod, and the kernel reports that.
 *
 * Unknown counts as held: while the kubelet does not answer, or has just started and does not know its pods yet, holders stay
 * as they were. A kubelet that has lost its checkpoint lists pods without their devices. A pod keeps its VFs until it ends, so a pod that
 * loses them by a restart of the kubelet keeps them in the report.
 */
import {
  defined,
  type HoldersStatus,
  type InterfaceStatus,
  type VfClaim,
  type VfHolder,
  type VfStatus,
} from "@switchyard/api";
import { recordedMs, sleep, systemClock, type Clock, type Source } from "@switchyard/kube";
import type { DeviceHolder } from "@switchyard/kubelet";
import { isDeepStrictEqual } from "node:util";
import { newKubelet, type HoldersAnswer, type ReadHolders } from "../kubelet/kubelet.ts";

export interface VfHoldersDeps {
  readonly readHolders: ReadHolders;
  /**
   * Returns the claims by the PCI address of the VF, or undefined if they are not known. `known` has those of the last time. There are
   * none by default.
   */
  readonly readClaims?: (known: ReadonlyMap<string, VfClaim>) => Promise<ReadonlyMap<string, VfClaim> | undefined>;
  /** The wall clock. */
  readonly now: () => Date;
  readonly clock?: Clock;
  /** Whether a drain waits for pods to end; never by default. */
  readonly isUrgent?: () => boolean;
  /** Ends the poll. */
  readonly signal: AbortSignal;
}

/** PFs with the holders of their VFs, and whether these are known. */
export interface HeldInterfaces {
  readonly interfaces: readonly InterfaceStatus[];
  /** Undefined if there are no VFs. */
  readonly holders: HoldersStatus | undefined;
}

export interface VfHolders {
  /** Returns the PFs with the holders of their VFs. `before` is the previous status, which a restarted daemon continues. */
  addTo(
    found: readonly InterfaceStatus[],
    before: Partial<HeldInterfaces>,
    signal: AbortSignal,
  ): Promise<HeldInterfaces>;
  /** Adds `key` when a poll finds other holders than the last addTo(). Without VFs, the kubelet is not asked. */
  source(key: string): Source;
}

/** Four calls a minute. */
const pollMs = 15_000;

/** While a drain waits for pods to end. */
const urgentPollMs = 2_000;

export function createVfHolders(deps: VfHoldersDeps): VfHolders {
  const { readHolders, readClaims = noClaims, now, clock = systemClock, isUrgent = () => false, signal: end } = deps;
  /** Ends the sleep of the poll. */
  let wakePoll = (): void => undefined;
  let lastAnswer: string | undefined;
  let shown: HeldInterfaces | undefined;
  let lastKubelet: string | undefined;
  /** What another kubelet has said, by VF, and the present one does not. */
  let forgotten: ReadonlyMap<string, VfHolder> = new Map();
  let lastMs = -Infinity;

  async function look(
    found: readonly InterfaceStatus[],
    before: Partial<HeldInterfaces>,
    signal: AbortSignal,
  ): Promise<HeldInterfaces> {
    const known = new Map(
      (before.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs.map((vf): [string, VfStatus] => [vf.pciAddress, vf])),
    );
    const [answer, claims] = await Promise.all([readHolders(signal), readClaims(claimsIn(known))]);
    lastMs = clock.nowMs();
    const since = now()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
    const unknown = unknownBecause(answer, found);
    if (unknown === undefined) lastAnswer = since;
    if (answer.ok && unknown === undefined) {
      const isOther = lastKubelet !== undefined && answer.value.kubelet !== lastKubelet;
      forgotten = forgottenBy(answer.value, isOther ? holdersIn(known) : forgotten);
      lastKubelet = answer.value.kubelet;
    }
    const claimOf = ({ pciAddress }: VfStatus) => (claims ?? claimsIn(known)).get(pciAddress);
    const holderOf = ({ pciAddress }: VfStatus): VfHolder | undefined => {
      const earlier = known.get(pciAddress)?.holder;
      return answer.ok
        ? (holderIn(answer.value, pciAddress, { earlier, since }) ?? forgotten.get(pciAddress))
        : earlier;
    };
    return {
      interfaces: found.map((pf) =>
        pf.Vfs === undefined ? pf : { ...pf, Vfs: pf.Vfs.map((vf) => withHolder(vf, holderOf(vf), claimOf(vf))) },
      ),
      holders: unknown === undefined ? { known: true } : { known: false, ...defined({ message: unknown, lastAnswer }) },
    };
  }

  /** Rejects only if the signal aborts. */
  async function sleepUntilWoken(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    wakePoll = () => {
      woken.abort();
    };
    await sleep(clock, ms, AbortSignal.any([signal, woken.signal])).catch(() => {
      signal.throwIfAborted();
    });
  }

  return {
    async addTo(found, before, signal) {
      const hasVfs = found.some(({ Vfs = [] }) => Vfs.length > 0);
      shown = hasVfs ? await look(found, before, signal) : { interfaces: found, holders: undefined };
      if (isUrgent()) wakePoll();
      return shown;
    },
    source(key) {
      return {
        start(enqueue) {
          const stop = new AbortController();
          const signal = AbortSignal.any([stop.signal, end]);
          const poll = async (): Promise<void> => {
            for (;;) {
              const intervalMs = isUrgent() ? urgentPollMs : pollMs;
              const dueMs = shown?.holders === undefined ? intervalMs : lastMs + intervalMs - clock.nowMs();
              await sleepUntilWoken(Math.max(dueMs, 0), signal);
              if (shown?.holders === undefined || clock.nowMs() - lastMs < intervalMs) continue;
              const before = shown;
              if (!isDeepStrictEqual(await look(before.interfaces, before, signal), before)) enqueue(key);
            }
          };
          void poll().catch(() => undefined); // it ends with the signal only
          return () => {
            stop.abort();
          };
        },
        whenSynced: () => Promise.resolve(),
      };
    },
  };
}

/** Why the answer does not say of each VF which pod has it; undefined if it does. */
function unknownBecause(
  answer: Awaited<ReturnType<ReadHolders>>,
  found: readonly InterfaceStatus[],
): string | undefined {
  if (!answer.ok) return `the kubelet does not say which pods have VFs: ${answer.error}`;
  if (answer.value.isNewKubelet) return newKubelet;
  for (const { Vfs = [] } of found) {
    for (const { pciAddress } of Vfs) {
      const nameless = answer.value.byId.get(pciAddress)?.find(({ name }) => name === "");
      if (nameless === undefined) continue;
      return `the kubelet does not say which pod has VF ${pciAddress} by a claim of ${nameless.resource}`;
    }
  }
  return undefined;
}

/** Returns those of the holders whose pods the kubelet lists without their VFs. */
function forgottenBy(
  { byId, isListed = () => false }: HoldersAnswer,
  holders: ReadonlyMap<string, VfHolder | undefined>,
): ReadonlyMap<string, VfHolder> {
  const kept = [...holders].flatMap(([address, holder]) =>
    holder !== undefined && !byId.has(address) && isListed(holder) ? [[address, holder] as const] : [],
  );
  return new Map(kept);
}

/** A pod keeps the time at which it was first seen. Another pod of the same name has another uid. */
function holderIn(
  { byId, isNewKubelet }: HoldersAnswer,
  address: string,
  { earlier, since }: { readonly earlier: VfHolder | undefined; readonly since: string },
): VfHolder | undefined {
  const found = byId.get(address) ?? [];
  const [first] = found.filter(({ name }) => name !== "");
  if (first === undefined) return isNewKubelet || found.length > 0 ? earlier : undefined;
  // If several pods have the VF, the one that was seen first stays.
  const same = earlier && found.find((holder) => isSame(holder, earlier));
  if (earlier !== undefined && same !== undefined) {
    const { uid: _uid, ...kept } = earlier;
    // A clock that was not set has no right time.
    const isRight = recordedMs(kept.since, Date.parse(since)) !== undefined;
    return { ...kept, ...uidIn(same), ...(!isRight && { since }) };
  }
  const { namespace, name, via, resource } = first;
  return {
    namespace: namespace.slice(0, limits.namespace),
    name: name.slice(0, limits.name),
    ...uidIn(first),
    via,
    resource: resource.slice(0, limits.resource),
    since,
  };
}

/** As in the CRD. Kubernetes allows no longer names, but a write that the API server refuses would hide everything else. */
const limits = { namespace: 63, name: 253, uid: 36, resource: 317 };

function uidIn({ uid }: DeviceHolder): Pick<VfHolder, "uid"> {
  return uid === undefined ? {} : { uid: uid.slice(0, limits.uid) };
}

/** A uid that is not known is that of any pod with this name. */
function isSame(holder: DeviceHolder, { namespace, name, uid, resource }: VfHolder): boolean {
  const isSameUid = uid === undefined || holder.uid === undefined || holder.uid === uid;
  return isSameUid && holder.namespace === namespace && holder.name === name && holder.resource === resource;
}

function withHolder(
  { holder: _holder, claim: _claim, ...vf }: VfStatus,
  holder: VfHolder | undefined,
  claim: VfClaim | undefined,
): VfStatus {
  return { ...vf, ...defined({ holder, claim }) };
}

const noClaims = () => Promise.resolve(new Map<string, VfClaim>());

function holdersIn(vfs: ReadonlyMap<string, VfStatus>): ReadonlyMap<string, VfHolder | undefined> {
  return new Map([...vfs].map(([address, { holder }]) => [address, holder]));
}

function claimsIn(vfs: ReadonlyMap<string, VfStatus>): ReadonlyMap<string, VfClaim> {
  return new Map([...vfs].flatMap(([address, { claim }]) => (claim === undefined ? [] : [[address, claim]])));
}
