// SPDX-License-Identifier: Apache-2.0
/** The AF_XDP devices of a simulated fleet: each node has two NICs that can have subfunctions. Pure. */
import {
  afxdpNetworkNodeStates,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpOperatorConfig,
} from "@switchyard/api";
import { nodeName, operatorNamespace } from "./nodes.ts";
import type { FleetKind } from "./simulated-fleet.ts";

export const afxdpApiVersion = "afxdpnetwork.hns.dev/v1alpha1";

/** The driver of the NICs. */
export const afxdpDriver = "mlx5_core";

export const afxdpConfig: AfxdpOperatorConfig = {
  apiVersion: afxdpApiVersion,
  kind: "AfxdpOperatorConfig",
  metadata: { name: operatorConfigName, namespace: operatorNamespace },
  spec: { disableDrain: true },
};

export const afxdpKind: FleetKind<AfxdpNetworkNodeStateSpec> = {
  type: afxdpNetworkNodeStates,
  owner: "AfxdpOperatorConfig",
  marker: (numSfs) => ({ interfaces: [{ pciAddress: "0000:00:00.0", mode: "subfunction", poolName: "mark", numSfs }] }),
};

/** The status that a node's daemon writes: two NICs, of which no subfunction exists yet. */
export function reportedAfxdpState(namespace: string, index: number): AfxdpNetworkNodeState {
  const interfaces = [0, 1].map((port) => ({
    pciAddress: `0000:3b:00.${port}`,
    name: `ens1f${port}np${port}`,
    mac: `02:00:00:00:0${port}:01`,
    vendor: "15b3",
    deviceID: "101d",
    driver: afxdpDriver,
    mtu: 1500,
    maxMtu: 9978,
    queues: 63,
    maxQueues: 63,
    linkAdminState: "up" as const,
    numSfs: 0,
    maxSfs: 128,
    xdp: { native: true, zeroCopy: true },
  }));
  return { ...afxdpState(namespace, index), status: { interfaces, syncStatus: "Succeeded", lastSyncError: "" } };
}

/** A node state with metadata only. */
export function afxdpState(namespace: string, index: number): AfxdpNetworkNodeState {
  return { apiVersion: afxdpApiVersion, kind: "AfxdpNetworkNodeState", metadata: { name: nodeName(index), namespace } };
}
