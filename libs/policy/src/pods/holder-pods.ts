// SPDX-License-Identifier: Apache-2.0
/**
 * Drains of single VFs: which pods have them, as the config daemon reports it, and which of these pods must leave. Drains and the
 * predictions of the command line use the same functions. All are pure, but for `found` of selectHolderPods().
 * Usage: `const { holders } = holdersOf(status, vfs); const { leaving } = selectHolderPods(pods, holders);`
 */
import { defined, draDriverName } from "@switchyard/api";
import { hasVf, type VfSet } from "../vfs/vf-set.ts";
import { holderOf, type HeldVfs } from "../vfs/vf-holder.ts";
import type { DeviceSlice } from "./allocated-devices.ts";
import { publishesNics } from "./device-lookup.ts";
import type { DrainedPod, PodSelection } from "./drained-pod.ts";
import type { PfAddresses } from "./pf-addresses.ts";

export interface VfHolders {
  /** The pods that have the VFs, each once. */
  readonly holders: readonly VfHolderPod[];
  /** Why it is not known of each VF which pod has it; undefined if it is known. */
  readonly unknown: string | undefined;
}

export interface VfHolderPod {
  readonly namespace: string;
  readonly name: string;
  /** Uid of the pod, as the kubelet knows it; absent if the daemon does not know it. */
  readonly uid?: string;
  /** When the daemon first saw the pod with a VF. A pod of the same name that comes later has another time. */
  readonly since: string;
}

export function holdersOf(status: HeldVfs, vfs: VfSet): VfHolders {
  const pods = new Map<string, VfHolderPod>();
  let unknownVf: string | undefined;
  for (const { pciAddress, Vfs = [] } of status.interfaces ?? []) {
    for (const vf of Vfs) {
      if (!hasVf(vfs, pciAddress, vf.vfID)) continue;
      const holder = holderOf(status, vf);
      if (holder === "unknown") unknownVf ??= vf.pciAddress;
      else if (holder !== "free") {
        const { namespace, name, uid, since } = holder;
        pods.set(`${namespace}/${name} ${uid ?? since}`, { namespace, name, ...defined({ uid }), since });
      }
    }
  }
  const isKnown = status.holders?.known === true && unknownVf === undefined;
  const why = status.holders?.known === true ? undefined : status.holders?.message;
  const which = unknownVf === undefined ? "the VFs" : `VF ${unknownVf}`;
  return {
    holders: [...pods.values()],
    unknown: isKnown ? undefined : (why ?? `the config daemon does not report which pod has ${which}`),
  };
}

export interface HolderSelection extends PodSelection {
  /** Pods that have VFs and do not exist any more, by "namespace/name": their containers may still run. */
  readonly gone: readonly string[];
}

/**
 * The uids of the pods that were found so far, by holder, for holders without a uid. A new pod of the same name, as StatefulSets create
 * them, is not the one that has the VF.
 */
export type FoundHolders = Map<string, string>;

/**
 * Selects the pods that must leave. VFs that change are not offered meanwhile, so no pod comes back to them, not even one of a DaemonSet.
 * Adds the pods that it finds to `found`.
 */
export function selectHolderPods(
  pods: readonly DrainedPod[],
  holders: readonly VfHolderPod[],
  found: FoundHolders = new Map(),
): HolderSelection {
  const byName = new Map(pods.map((pod) => [nameOf(pod), pod]));
  const selected = new Set<DrainedPod>();
  const gone = new Set<string>();
  for (const holder of holders) {
    const name = nameOf(holder);
    const key = `${name} ${holder.since}`;
    const pod = byName.get(name);
    const uid = holder.uid ?? found.get(key) ?? pod?.uid;
    if (uid !== undefined && holder.uid === undefined) found.set(key, uid);
    if (pod === undefined || !hasUid(pod, uid)) gone.add(name);
    else if (!pod.isFinished) selected.add(pod);
  }
  const running = [...selected];
  return {
    leaving: running.filter(({ kind }) => kind !== "mirror"),
    staying: running.filter(({ kind }) => kind === "mirror"),
    gone: [...gone].sort(),
  };
}

/** What besides the device plugin can give VFs of a node to pods. */
export interface OtherUsers {
  readonly node: string;
  readonly pods: readonly DrainedPod[];
  readonly slices: readonly DeviceSlice[];
  /** The PFs whose VFs change. */
  readonly pfs: readonly PfAddresses[];
  /** Whether the driver of ResourceClaims on the node is Switchyard's, which gives no pod a VF that changes. */
  readonly hasOwnDriver: boolean;
}

/**
 * Reports whether the VFs may have, or get, pods that the node state does not show. It does not say which AF_XDP devices a pod has. A
 * driver that publishes VFs of the PFs may give them to pods during the drain.
 */
export function hasOtherUsers({ node, pods, slices, pfs, hasOwnDriver }: OtherUsers): boolean {
  const isOther = ({ driver }: DeviceSlice) => !hasOwnDriver || driver !== draDriverName;
  return (
    pods.some(({ hasAfxdpDevices, isFinished }) => hasAfxdpDevices && !isFinished) ||
    slices.some((slice) => slice.node === node && isOther(slice) && publishesNics(slice, () => pfs))
  );
}

/** A pod of a file can have no uid. The kubelet knows a static pod by another uid than that of its mirror pod. */
function hasUid({ uid, staticUid }: DrainedPod, wanted: string | undefined): boolean {
  return uid === "" || uid === wanted || (staticUid !== undefined && staticUid === wanted);
}

function nameOf({ namespace, name }: Pick<DrainedPod, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
