// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator keeps of a SriovNetworkNodeState: what nicSelectors look at, and how far each PF is. The VF rows of
 * 1,000 nodes would be 100 MB of JSON, so the plan is made while they pass by, and they are dropped.
 * Usage: `project: toNodeStateFacts` of the cache of node states.
 */
import {
  annotations,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { cutText, maxMessageBytes, type KubeObject } from "@switchyard/kube";
import { ownedInStatus, plan, type PlanProblem } from "@switchyard/plan";
import { statusPfs, toPfAddresses, type PfAddresses } from "@switchyard/policy";
import { countConfiguredVfs, type VfCounts } from "./configured-vfs.ts";
import { toDrainFacts, type DrainFacts } from "../drain/drain-facts.ts";
import { toSlotFacts, type SlotFacts } from "../drain/slots/held-slot.ts";
import { fieldManagers } from "../field-managers.ts";
import { ownsAnnotation } from "./owned-annotations.ts";

/** One node's state, reduced. */
export interface NodeStateFacts {
  readonly name: string;
  readonly uid: string;
  /** annotations.keepStateUntil; absent on the state of a node that is there. */
  readonly keepStateUntil?: string;
  /** Those of the drain handshake that are as node-state-reconciler.ts wrote them; absent where none is. */
  readonly ownAnnotations?: Readonly<Record<string, string>>;
  readonly spec: SriovNetworkNodeStateSpec;
  /**
   * Whether the daemon has looked at the node since `spec` is as it is: one that is stopped, or slow, tells of a node that
   * was. Of upstream's daemon, which does not say, it is taken for granted.
   */
  readonly hasSeenSpec: boolean;
  /** PFs as discovered, reduced to what a nicSelector can ask about; empty before the daemon's first report. */
  readonly interfaces: readonly InterfaceStatus[];
  /** Addresses of the PFs and their VFs: what pods have been allocated is known by them. */
  readonly pfs: readonly PfAddresses[];
  /** What is not as `spec` asks; empty where all is done. */
  readonly unfinished: readonly UnfinishedWork[];
  readonly configuredVfs: VfCounts;
  readonly syncStatus: string;
  readonly lastSyncError: string;
  readonly drain: DrainFacts;
  /** Absent while the node holds no slot of its pool. */
  readonly slot?: SlotFacts;
}

/** Work that is left on one PF, or on the node as a whole. */
export interface UnfinishedWork {
  /** Absent for what belongs to no PF. */
  readonly pciAddress?: string;
  /** Why it will never be done: "numVfs: 9 VFs asked for, …"; absent where it is only not done yet. */
  readonly problem?: string;
}

export function toNodeStateFacts(state: SriovNetworkNodeState): NodeStateFacts {
  const { metadata, spec = {}, status: whole = {} } = state;
  const status = { ...whole, interfaces: statusPfs(whole) };
  const { steps, problems } = plan(spec, status, ownedInStatus(status));
  const busy = new Set(steps.flatMap((step) => ("pciAddress" in step ? [step.pciAddress] : [])));
  const keepStateUntil = metadata.annotations?.[annotations.keepStateUntil];
  const ownAnnotations = ownAnnotationsOf(state);
  const drain = toDrainFacts({ metadata, status });
  const slot = toSlotFacts(state, drain);
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    ...(keepStateUntil === undefined ? {} : { keepStateUntil }),
    ...(ownAnnotations === undefined ? {} : { ownAnnotations }),
    spec,
    hasSeenSpec: (status.observedGeneration ?? Infinity) >= (metadata.generation ?? 0),
    interfaces: status.interfaces.map(nicFacts),
    pfs: toPfAddresses(status.interfaces),
    unfinished: [
      ...[...busy].map((pciAddress) => ({ pciAddress })),
      ...problems.map((problem) => ({
        ...(problem.pciAddress === undefined ? {} : { pciAddress: problem.pciAddress }),
        problem: withoutPath(problem),
      })),
    ],
    configuredVfs: countConfiguredVfs(spec, status, steps),
    syncStatus: status.syncStatus ?? "",
    lastSyncError: cutText(status.lastSyncError ?? "", maxMessageBytes),
    drain,
    ...(slot === undefined ? {} : { slot }),
  };
}

function ownAnnotationsOf({ metadata }: KubeObject): Readonly<Record<string, string>> | undefined {
  const entry = metadata.managedFields?.find(({ manager, operation, subresource = "" }) => {
    return manager === fieldManagers.nodeState && operation === "Apply" && subresource === "";
  });
  if (entry === undefined) return undefined;
  const own = [annotations.desiredState, annotations.currentState].flatMap((annotation) => {
    const value = metadata.annotations?.[annotation];
    return value !== undefined && ownsAnnotation(entry, annotation) ? [[annotation, value] as const] : [];
  });
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** The path is the node state's; on a policy only its last field means something. */
function withoutPath({ field, message }: PlanProblem): string {
  return cutText(`${field.slice(field.lastIndexOf(".") + 1)}: ${message}`, maxMessageBytes);
}

function nicFacts(nic: InterfaceStatus): InterfaceStatus {
  const { pciAddress, name, altNames, vendor, deviceID, netFilter, linkType, totalvfs, owned, recordedNames } = nic;
  return {
    pciAddress,
    ...(name === undefined ? {} : { name }),
    ...(altNames === undefined ? {} : { altNames }),
    ...(vendor === undefined ? {} : { vendor }),
    ...(deviceID === undefined ? {} : { deviceID }),
    ...(netFilter === undefined ? {} : { netFilter }),
    ...(linkType === undefined ? {} : { linkType }),
    ...(totalvfs === undefined ? {} : { totalvfs }),
    ...(owned === undefined ? {} : { owned }),
    ...(recordedNames === undefined ? {} : { recordedNames }),
  };
}
