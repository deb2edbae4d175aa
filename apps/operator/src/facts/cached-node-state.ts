// SPDX-License-Identifier: Apache-2.0
/**
 * CachedNodeState are the parts of a SriovNetworkNodeState that the operator caches: the fields that nicSelectors match,
 * and the unfinished work of each PF. The VFs of 1,000 nodes would be 100 MB of JSON, so the plan is computed when a
 * state arrives and the VFs are dropped.
 */
import {
  annotations,
  defined,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { cutText, maxMessageBytes, ownsAnnotation, type KubeObject } from "@switchyard/kube";
import { changedVfs, ownedInStatus, plan, type PlanProblem, type Step } from "@switchyard/plan";
import {
  allocationOf,
  includesVf,
  parseVfRange,
  statusPfs,
  toPfAddresses,
  type Allocator,
  type PfAddresses,
} from "@switchyard/policy";
import { toCachedDeviceDrain, type CachedDeviceDrain } from "./cached-device-drain.ts";
import { toCachedDrain, type CachedDrain } from "./cached-drain.ts";
import { toCachedSlot, type CachedSlot } from "./held-slot.ts";
import { fieldManagers } from "../field-managers.ts";

export interface CachedNodeState {
  readonly name: string;
  readonly uid: string;
  /** annotations.keepStateUntil; absent unless the node has left the node set. */
  readonly keepStateUntil?: string;
  /** Annotations of the drain handshake that node-state-reconciler.ts still owns; absent if it owns none. */
  readonly ownAnnotations?: Readonly<Record<string, string>>;
  readonly spec: SriovNetworkNodeStateSpec;
  /** When the operator last changed the spec, in RFC 3339. Absent if it has not written it. */
  readonly specWrittenAt?: string;
  /**
   * Whether the daemon has observed the node since `spec` last changed. False for a daemon that is stopped or slow.
   * Upstream's daemon does not report it, so it is assumed.
   */
  readonly hasSeenSpec: boolean;
  /** Discovered PFs, with the fields that a nicSelector can match; empty before the daemon's first report. */
  readonly interfaces: readonly InterfaceStatus[];
  /** PCI addresses of the PFs and their VFs, which identify devices that are allocated to pods. */
  readonly pfs: readonly PfAddresses[];
  /** Differences between the node and `spec`; empty if there are none. */
  readonly unfinished: readonly UnfinishedWork[];
  readonly configuredVfs: ConfiguredVfs;
  /** Who offers VFs of the node now. */
  readonly offers: CachedOffers;
  readonly syncStatus: string;
  readonly lastSyncError: string;
  readonly drain: CachedDrain;
  /** Absent while the node holds no drain slot. */
  readonly slot?: CachedSlot;
  /** Absent unless the daemon's request is about single VFs. */
  readonly deviceDrain?: CachedDeviceDrain;
}

export interface CachedOffers {
  /** Who may begin to offer a VF. */
  readonly offeredBy: Allocator;
  /** Whether the node has VFs in ResourceSlices. */
  readonly hasPublishedVfs: boolean;
  /** Whether a pod has a VF from the device plugin, or may have one. */
  readonly hasPluginPods: boolean;
}

/** Unfinished work on one PF or on the whole node. */
export interface UnfinishedWork {
  /** Absent for work that belongs to no PF. */
  readonly pciAddress?: string;
  /** Why it can never be done, with the field: "numVfs: …". Absent if it is only not done yet. */
  readonly problem?: string;
}

/** Number of VFs by policy name. Policies without such VFs are left out. */
type ConfiguredVfs = Readonly<Record<string, number>>;

export function toCachedNodeState(state: SriovNetworkNodeState): CachedNodeState {
  const { metadata, spec = {}, status: whole = {} } = state;
  const status = { ...whole, interfaces: statusPfs(whole) };
  const { steps, problems, waiting = [] } = plan(spec, status, ownedInStatus(status));
  const busy = new Set([...steps.flatMap((step) => ("pciAddress" in step ? [step.pciAddress] : [])), ...waiting]);
  const keepStateUntil = metadata.annotations?.[annotations.keepStateUntil];
  const ownAnnotations = ownAnnotationsOf(state);
  const drain = toCachedDrain({ metadata, status });
  const slot = toCachedSlot(state, drain);
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    ...defined({ keepStateUntil, ownAnnotations, specWrittenAt: specWrittenAt(state) }),
    spec,
    hasSeenSpec: (status.observedGeneration ?? Infinity) >= (metadata.generation ?? 0),
    interfaces: status.interfaces.map(selectableNic),
    pfs: toPfAddresses(status.interfaces),
    unfinished: [
      ...[...busy].map((pciAddress) => ({ pciAddress })),
      ...problems.map((problem) => ({
        ...defined({ pciAddress: problem.pciAddress }),
        problem: withoutPath(problem),
      })),
    ],
    configuredVfs: countConfiguredVfs(spec, status, steps),
    offers: offersOf(status),
    syncStatus: status.syncStatus ?? "",
    lastSyncError: cutText(status.lastSyncError ?? "", maxMessageBytes),
    drain,
    ...defined({ slot, deviceDrain: toCachedDeviceDrain(state, status) }),
  };
}

function offersOf(status: SriovNetworkNodeStateStatus): CachedOffers {
  const vfs = (status.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs);
  return {
    offeredBy: allocationOf({ status }).offeredBy,
    hasPublishedVfs: (status.publishedVfs ?? 0) > 0,
    hasPluginPods:
      vfs.length > 0 && (status.holders?.known !== true || vfs.some((vf) => vf.holder?.via === "device-plugin")),
  };
}

/** When the operator last changed the spec of a node state of either kind, in RFC 3339. Undefined if it has not written it. */
export function specWrittenAt(state: KubeObject): string | undefined {
  return specEntryOf(state)?.time;
}

function specEntryOf({ metadata }: KubeObject) {
  return metadata.managedFields?.find(({ manager, operation, subresource = "" }) => {
    return manager === fieldManagers.nodeState && operation === "Apply" && subresource === "";
  });
}

function ownAnnotationsOf(state: KubeObject): Readonly<Record<string, string>> | undefined {
  const { metadata } = state;
  const entry = specEntryOf(state);
  if (entry === undefined) return undefined;
  const own = [annotations.desiredState, annotations.currentState].flatMap((annotation) => {
    const value = metadata.annotations?.[annotation];
    return value !== undefined && ownsAnnotation(entry, annotation) ? [[annotation, value] as const] : [];
  });
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** Drops the path of the field in the node state, which means nothing on a policy, except for its last name. */
function withoutPath({ field, message }: PlanProblem): string {
  return cutText(`${field.slice(field.lastIndexOf(".") + 1)}: ${message}`, maxMessageBytes);
}

function selectableNic(nic: InterfaceStatus): InterfaceStatus {
  const { pciAddress, name, altNames, vendor, deviceID, netFilter, linkType, totalvfs, bridge, owned, recordedNames } =
    nic;
  return {
    pciAddress,
    ...defined({ name, altNames, vendor, deviceID, netFilter, linkType, totalvfs, bridge, owned, recordedNames }),
  };
}

/**
 * countConfiguredVfs counts the VFs of each policy on one node that exist and have the right driver, for a metric. Pure. VFs that
 * are about to be created again or bound to another driver do not count.
 */
function countConfiguredVfs(
  spec: SriovNetworkNodeStateSpec,
  status: SriovNetworkNodeStateStatus,
  steps: readonly Step[],
): ConfiguredVfs {
  const changed = steps.flatMap((step) => changedVfs(step) ?? []);
  const recreated = new Set(changed.flatMap(({ pciAddress, vfId }) => (vfId === "all" ? [pciAddress] : [])));
  const unbound = new Set(changed.map(({ pciAddress, vfId }) => `${pciAddress} ${vfId}`));
  const found = new Map((status.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const counts = new Map<string, number>();
  for (const { pciAddress, vfGroups = [] } of spec.interfaces ?? []) {
    const pf = found.get(pciAddress);
    if (pf === undefined || recreated.has(pciAddress)) continue;
    for (const { policyName = "", vfRange = "", reservedFor } of vfGroups) {
      if (reservedFor !== undefined) continue; // of no policy
      const range = parseVfRange(vfRange);
      if (!range.ok) continue;
      const isConfigured = (vfId: number) => includesVf(range.value, vfId) && !unbound.has(`${pciAddress} ${vfId}`);
      const count = (pf.Vfs ?? []).filter(({ vfID }) => isConfigured(vfID)).length;
      if (count > 0) counts.set(policyName, (counts.get(policyName) ?? 0) + count);
    }
  }
  return Object.fromEntries(counts);
}
