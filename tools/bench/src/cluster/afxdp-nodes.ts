// SPDX-License-Identifier: Apache-2.0
/** The AF_XDP devices of a simulated fleet: each node has two NICs that can have subfunctions. Pure. */
import type { AfxdpNetworkNodePolicySpec, AfxdpNetworkNodeStateStatus } from "@switchyard/api";
import { configMetadata, operatorNamespace } from "./nodes.ts";

export const afxdpConfig = { metadata: configMetadata, spec: { disableDrain: true } };

/** Addresses of both NICs of each node. */
export const afxdpNics = ["0000:3b:00.0", "0000:3b:00.1"];

const driver = "mlx5_core";

/** The status that a node's daemon writes: no subfunction exists yet. */
export const afxdpStatus: AfxdpNetworkNodeStateStatus = {
  interfaces: afxdpNics.map((pciAddress, port) => ({
    pciAddress,
    name: `ens1f${port}np${port}`,
    mac: `02:00:00:00:0${port}:01`,
    vendor: "15b3",
    deviceID: "101d",
    driver,
    mtu: 1500,
    maxMtu: 9978,
    queues: 63,
    maxQueues: 63,
    linkAdminState: "up",
    numSfs: 0,
    maxSfs: 128,
    xdp: { native: true, zeroCopy: true },
  })),
  syncStatus: "Succeeded",
  lastSyncError: "",
};

/** A policy for both NICs of all nodes. */
export function afxdpPolicy(more: Pick<AfxdpNetworkNodePolicySpec, "mode" | "numSfs">) {
  const spec = { poolName: "fast", nodeSelector: {}, nicSelector: { driver }, ...more };
  return { metadata: { name: "all", namespace: operatorNamespace }, spec };
}
