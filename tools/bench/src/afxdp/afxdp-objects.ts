// SPDX-License-Identifier: Apache-2.0
/** Builds the objects for AF_XDP of a simulated fleet: each node has two NICs that can have subfunctions. Pure. */
import {
  operatorConfigName,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpOperatorConfig,
} from "@switchyard/api";
import { nodeName, operatorNamespace } from "../fleet/fleet-objects.ts";

const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
const driver = "mlx5_core";

export const afxdpConfig: AfxdpOperatorConfig = {
  apiVersion,
  kind: "AfxdpOperatorConfig",
  metadata: { name: operatorConfigName, namespace: operatorNamespace },
  spec: { disableDrain: true },
};

/** A policy for both NICs of all nodes. */
export function afxdpPolicy(numSfs: number): AfxdpNetworkNodePolicy {
  return {
    apiVersion,
    kind: "AfxdpNetworkNodePolicy",
    metadata: { name: "all", namespace: operatorNamespace },
    spec: { poolName: "fast", nodeSelector: {}, nicSelector: { driver }, numSfs },
  };
}

/** The status that a node's daemon writes: two NICs, of which no subfunction exists yet. */
export function reportedAfxdpState(namespace: string, index: number): AfxdpNetworkNodeState {
  const interfaces = [0, 1].map((port) => ({
    pciAddress: `0000:3b:00.${port}`,
    name: `ens1f${port}np${port}`,
    mac: `02:00:00:00:0${port}:01`,
    vendor: "15b3",
    deviceID: "101d",
    driver,
    mtu: 1500,
    maxMtu: 9978,
    queues: 63,
    maxQueues: 63,
    linkAdminState: "up" as const,
    numSfs: 0,
    maxSfs: 128,
    xdp: { native: true, zeroCopy: true },
  }));
  return { ...afxdpNodeState(namespace, index), status: { interfaces, syncStatus: "Succeeded", lastSyncError: "" } };
}

/** A node state with this spec and the metadata that the operator writes. */
export function afxdpStateWithSpec(
  namespace: string,
  index: number,
  spec: AfxdpNetworkNodeStateSpec,
): AfxdpNetworkNodeState {
  const { metadata, ...state } = afxdpNodeState(namespace, index);
  const uid = "11111111-2222-3333-4444-555555555555"; // without effect, because no garbage collector is running
  const owner = { apiVersion, kind: "AfxdpOperatorConfig", name: operatorConfigName, uid };
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
  return { ...state, metadata: { ...metadata, ownerReferences }, spec };
}

/** A node state with metadata only. */
export function afxdpNodeState(namespace: string, index: number): AfxdpNetworkNodeState {
  return { apiVersion, kind: "AfxdpNetworkNodeState", metadata: { name: nodeName(index), namespace } };
}
