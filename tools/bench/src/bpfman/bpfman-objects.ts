// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the objects of a simulated fleet whose AF_XDP programs bpfman loads: what administrators, the daemons, the device
 * plugins and bpfman's agents write. Pure.
 */
import {
  bpfmanApiVersion,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateStatus,
  type ClusterBpfApplication,
} from "@switchyard/api";
import { afxdpNodeState } from "../afxdp/afxdp-objects.ts";
import { nodeName, operatorNamespace } from "../fleet/fleet-objects.ts";

/** A policy that offers both NICs of all nodes as devices. */
export const devicesPolicy: AfxdpNetworkNodePolicy = {
  apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
  kind: "AfxdpNetworkNodePolicy",
  metadata: { name: "all", namespace: operatorNamespace },
  spec: { poolName: "fast", mode: "primary", nodeSelector: {}, nicSelector: { driver: "mlx5_core" } },
};

/** Addresses of both NICs, to which bpfman may attach programs. */
export const readyDevices = ["0000:3b:00.0", "0000:3b:00.1"];

/** A part of the status of a node state. */
export function stateWithStatus(
  namespace: string,
  index: number,
  status: AfxdpNetworkNodeStateStatus,
): AfxdpNetworkNodeState {
  return { ...afxdpNodeState(namespace, index), status };
}

/** The object without what the API server adds, under a name of the plain client, and without the operator's mark. */
export function plainApplication({ spec }: ClusterBpfApplication, index: number, device: number) {
  const name = plainApplicationName(index, device);
  const annotations = { "plain.example.com/node": nodeName(index), "plain.example.com/device": readyDevices[device] };
  const metadata = { name, labels: { "plain.example.com/made-by": "bench" }, annotations };
  return { apiVersion: bpfmanApiVersion, kind: clusterBpfApplications.kind, metadata, spec };
}

export function plainApplicationName(index: number, device: number): string {
  return `${plainPrefix}${index}-${device}`;
}

export const plainPrefix = "plain-";

/** The object and the status by which bpfman's agent reports that the program is loaded and attached. */
export function loadedState({ metadata, spec }: ClusterBpfApplication, programId: number) {
  const { name, uid = "" } = metadata;
  const owner = { apiVersion: bpfmanApiVersion, kind: clusterBpfApplications.kind, name, uid, controller: true };
  const [interfaceName] = spec.programs[0]?.xdp.links[0]?.interfaceSelector.interfaces ?? [];
  const link = { interfaceName, linkStatus: "Attached", shouldAttach: true, linkId: programId };
  const condition = { type: "Success", reason: "Success", message: "The program has been loaded and attached" };
  return {
    object: {
      apiVersion: bpfmanApiVersion,
      kind: clusterBpfApplicationStates.kind,
      metadata: { name: `${name}-state`, ownerReferences: [owner] },
    },
    status: {
      appLoadStatus: "LoadSuccess",
      updateCount: 1,
      conditions: [{ ...condition, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      programs: [{ name: "xdp", type: "XDP", programId, xdp: { links: [link] } }],
    },
  };
}
