// SPDX-License-Identifier: Apache-2.0
/**
 * CachedNodeState are the parts of a SriovNetworkNodeState that the operator caches: the fields that nicSelectors match,
 * and the unfinished work of each PF. The VFs of 1,000 nodes would be 100 MB of JSON, so the plan is computed when a
 * state arrives and the VFs are dropped.
 */
import {
  annotations,
  conditionTypes,
  defined,
  nodeStateReasons,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { cutText, maxMessageBytes, ownsAnnotation, type KubeObject } from "@switchyard/kube";
import { changedVfs, ownedInStatus, plan, type PlanProblem, type Step } from "@switchyard/plan";
import {
  allocationOf,
  countVfsIn,
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
  /** Number of VFs by resource name, for a metric. */
  readonly resourceVfs: Readonly<Record<string, ResourceVfs>>;
  readonly syncStatus: string;
  readonly lastSyncError: string;
  /** Why the last attempt failed to apply the present spec; absent if it did not. A retry that runs does not change it. */
  readonly failure?: string;
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

/** Held and free VFs are configured. Both are 0 if it is not known which pods have VFs. */
export type ResourceVfs = Readonly<Record<"wanted" | "configured" | "held" | "free", number>>;

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
    ...countVfs(spec, status, steps),
    offers: offersOf(status),
    syncStatus: status.syncStatus ?? "",
    lastSyncError: cutText(status.lastSyncError ?? "", maxMessageBytes),
    drain,
    ...defined({ failure: failureOf(status), slot, deviceDrain: toCachedDeviceDrain(state, status) }),
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

/**
 * Returns the message of the condition Degraded of a node state of either kind, if an attempt to apply the observed spec has
 * failed. Between two attempts the node is InProgress, and this condition stays until one succeeds.
 */
export function failureOf(
  status: Pick<SriovNetworkNodeStateStatus, "conditions" | "observedGeneration">,
): string | undefined {
  const degraded = status.conditions?.find(({ type }) => type === conditionTypes.degraded);
  if (degraded?.status !== "True" || degraded.observedGeneration !== status.observedGeneration) return undefined;
  return attemptFailed.has(degraded.reason) ? cutText(degraded.message, maxMessageBytes) : undefined;
}

const attemptFailed: ReadonlySet<string> = new Set([
  nodeStateReasons.stepFailed,
  nodeStateReasons.stepHangs,
  nodeStateReasons.discoveryFailed,
  nodeStateReasons.passFailed,
]);

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
 * countVfs counts the VFs of each policy and resource on one node, for metrics. Pure. A configured VF exists and has the right
 * driver. VFs that are about to be created again or bound to another driver do not count.
 */
function countVfs(
  spec: SriovNetworkNodeStateSpec,
  status: SriovNetworkNodeStateStatus,
  steps: readonly Step[],
): Pick<CachedNodeState, "configuredVfs" | "resourceVfs"> {
  const changed = steps.flatMap((step) => changedVfs(step) ?? []);
  const recreated = new Set(changed.flatMap(({ pciAddress, vfId }) => (vfId === "all" ? [pciAddress] : [])));
  const unbound = new Set(changed.map(({ pciAddress, vfId }) => `${pciAddress} ${vfId}`));
  const found = new Map((status.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const areHoldersKnown = status.holders?.known === true;
  const byPolicy = new Map<string, number>();
  const byResource = new Map<string, ResourceVfs>();
  for (const { pciAddress, vfGroups = [] } of spec.interfaces ?? []) {
    const pf = recreated.has(pciAddress) ? undefined : found.get(pciAddress);
    for (const { policyName = "", resourceName = "", vfRange = "", reservedFor } of vfGroups) {
      if (reservedFor !== undefined) continue; // of no policy
      const range = parseVfRange(vfRange);
      if (!range.ok) continue;
      const isConfigured = (vfId: number) => includesVf(range.value, vfId) && !unbound.has(`${pciAddress} ${vfId}`);
      const vfs = (pf?.Vfs ?? []).filter(({ vfID }) => isConfigured(vfID));
      if (vfs.length > 0) byPolicy.set(policyName, (byPolicy.get(policyName) ?? 0) + vfs.length);
      const held = areHoldersKnown ? vfs.filter(({ holder }) => holder !== undefined).length : 0;
      const before = byResource.get(resourceName) ?? { wanted: 0, configured: 0, held: 0, free: 0 };
      byResource.set(resourceName, {
        wanted: before.wanted + countVfsIn(range.value),
        configured: before.configured + vfs.length,
        held: before.held + held,
        free: before.free + (areHoldersKnown ? vfs.length - held : 0),
      });
    }
  }
  return { configuredVfs: Object.fromEntries(byPolicy), resourceVfs: Object.fromEntries(byResource) };
}
