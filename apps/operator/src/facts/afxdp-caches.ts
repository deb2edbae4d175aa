// SPDX-License-Identifier: Apache-2.0
/**
 * watchAfxdp watches the kinds for AF_XDP in the operator's namespace. They are optional: a cluster may have the kinds for
 * SR-IOV only.
 */
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  annotations,
  conditionTypes,
  defined,
  type AfxdpBpfmanStatus,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type AfxdpPoolStatus,
  type AfxdpSubfunctionStatus,
  type AfxdpXdpStatus,
  type Condition,
  type ObjectMeta,
} from "@switchyard/api";
import { cutText, maxMessageBytes, sharingEqual, watchObjects, type Cache } from "@switchyard/kube";
import { maxPfs } from "@switchyard/policy";
import { certifiedServers } from "./certified-servers.ts";
import { toCachedDrain, type CachedDrain } from "./cached-drain.ts";
import { toCachedSlot, type CachedSlot } from "./held-slot.ts";
import type { WatchNetworksOptions } from "./network-caches.ts";
import { specWrittenAt } from "./cached-node-state.ts";
import { fieldManagers } from "../field-managers.ts";
import { keepConfirmation } from "./reset-confirmation.ts";

/** More than the subfunctions of all devices of a node. */
const maxPrograms = 8_192;

/** The parts of an AfxdpNetworkNodeState that the operator caches. */
export interface CachedAfxdpState extends AfxdpNetworkNodeState {
  /** When the operator last changed the spec, in RFC 3339. Absent if it has not written it. */
  readonly specWrittenAt?: string;
  readonly drain: CachedDrain;
  /** Absent while the node holds no drain slot by this object. */
  readonly slot?: CachedSlot;
}

/** The keys are names. */
export interface AfxdpCaches {
  readonly afxdpPolicies: Cache<AfxdpNetworkNodePolicy>;
  readonly afxdpStates: Cache<CachedAfxdpState>;
  readonly afxdpConfigs: Cache<AfxdpOperatorConfig>;
}

export interface WatchAfxdpOptions extends WatchNetworksOptions {
  readonly namespace: string;
}

/** Options of the cache of each kind, for watches and for the stores of tests. */
export const afxdpStores = {
  afxdpPolicies: {
    type: afxdpNetworkNodePolicies,
    project: (policy: AfxdpNetworkNodePolicy): AfxdpNetworkNodePolicy => ({
      ...policy,
      metadata: keep(policy.metadata),
    }),
    managers: [fieldManagers.policyStatus, fieldManagers.failures],
  },
  afxdpStates: {
    type: afxdpNetworkNodeStates,
    project: sharingEqual((state: AfxdpNetworkNodeState) => toFacts(state)),
    managers: [fieldManagers.nodeState, fieldManagers.bpfmanPrograms, fieldManagers.drain, fieldManagers.failures],
  },
  afxdpConfigs: {
    type: afxdpOperatorConfigs,
    project: (config: AfxdpOperatorConfig): AfxdpOperatorConfig => ({
      ...config,
      metadata: { ...keep(config.metadata), ...keepConfirmation(config.metadata) },
    }),
    managers: [
      fieldManagers.operatorConfigStatus,
      fieldManagers.resetHeld,
      fieldManagers.failures,
      ...certifiedServers.map(({ manager }) => manager),
    ],
  },
};

export function watchAfxdp(options: WatchAfxdpOptions) {
  return {
    afxdpPolicies: watchObjects({ ...options, ...afxdpStores.afxdpPolicies, optional: true }),
    // A page is completely in memory, and a state with many subfunctions is large.
    afxdpStates: watchObjects({ ...options, ...afxdpStores.afxdpStates, optional: true, pageSize: 50 }),
    afxdpConfigs: watchObjects({ ...options, ...afxdpStores.afxdpConfigs, optional: true }),
  } satisfies AfxdpCaches;
}

/** Keeps what policies can match, what a policy's status depends on, and the drain. */
function toFacts(state: AfxdpNetworkNodeState): CachedAfxdpState {
  const { apiVersion, kind, metadata, spec = {}, status = {} } = state;
  const { interfaces, pools, programs, bpfman, syncStatus, lastSyncError = "", observedGeneration } = status;
  const degraded = status.conditions?.filter(({ type }) => type === conditionTypes.degraded).map(cutCondition);
  const until = metadata.annotations?.[annotations.keepStateUntil];
  const kept = until === undefined ? {} : { annotations: { [annotations.keepStateUntil]: until } };
  const drain = toCachedDrain(state);
  return {
    apiVersion,
    kind,
    metadata: { ...keep(metadata), ...kept },
    spec,
    drain,
    ...defined({ slot: toCachedSlot(state, drain), specWrittenAt: specWrittenAt(state) }),
    status: {
      ...defined({ syncStatus, observedGeneration, conditions: degraded }),
      ...defined({
        interfaces: interfaces?.slice(0, maxPfs).map(toDevice),
        pools: pools?.slice(0, maxPfs).map(toPool),
        programs: programs?.slice(0, maxPrograms),
        bpfman: bpfman && toReport(bpfman),
      }),
      lastSyncError: cutText(lastSyncError, maxMessageBytes),
    },
  };
}

function cutCondition(condition: Condition): Condition {
  return { ...condition, message: cutText(condition.message, maxMessageBytes) };
}

function toDevice(nic: AfxdpInterfaceStatus): AfxdpInterfaceStatus {
  const { pciAddress, name, altNames, recordedNames, mac, vendor, deviceID, driver, usedBy, owned } = nic;
  const { mtu, maxMtu, queues, maxQueues, numSfs, maxSfs } = nic;
  return defined({
    pciAddress,
    name,
    altNames,
    recordedNames,
    mac,
    vendor,
    deviceID,
    driver,
    usedBy,
    owned,
    mtu,
    maxMtu,
    queues,
    maxQueues,
    numSfs,
    maxSfs,
    xdp: toXdp(nic.xdp),
    subfunctions: nic.subfunctions?.map(toSubfunction),
  });
}

/** For bpfman: its devices, and what is in its way. */
function toSubfunction({ sfNumber, name, poolName, xdp }: AfxdpSubfunctionStatus): AfxdpSubfunctionStatus {
  return { sfNumber, ...defined({ name, poolName, xdp: toXdp(xdp) }) };
}

function toXdp(xdp: AfxdpXdpStatus | undefined): AfxdpXdpStatus | undefined {
  return xdp?.program && { program: xdp.program };
}

function toReport({ readyDevices, releasedPrograms }: AfxdpBpfmanStatus): AfxdpBpfmanStatus {
  return defined({
    readyDevices: readyDevices?.slice(0, maxPrograms),
    releasedPrograms: releasedPrograms?.slice(0, maxPrograms),
  });
}

/** The node writes the error, which can have any length. */
function toPool({ name, announced, allocatable, error }: AfxdpPoolStatus): AfxdpPoolStatus {
  return {
    name,
    ...defined({ announced, allocatable, error: error && cutText(error, maxMessageBytes) }),
  };
}

function keep({ name, namespace, uid, generation, creationTimestamp, deletionTimestamp }: ObjectMeta): ObjectMeta {
  return { name, ...defined({ namespace, uid, generation, creationTimestamp, deletionTimestamp }) };
}
