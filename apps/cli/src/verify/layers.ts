// SPDX-License-Identifier: Apache-2.0
/**
 * layers are what `switchyard verify` checks, from the bottom up. The first one that fails is the cause: those above it usually
 * fail because of it.
 */

/** Code of a layer, with what it means. The order is that of the checks. */
export const layers = {
  scheduled: "The scheduler placed the pod on the node.",
  resource: "The kubelet gave the pod a device of the resource.",
  attach: "Multus ran the CNI plugin of the network.",
  started: "The container of the pod started.",
  interface: "The pod has the network's interface.",
  link: "The interface is set up and has a carrier.",
  mac: "No two pods have the same MAC address.",
  address: "The interface has an IP address, and no other pod has it.",
  route: "Packets to the other pod leave by the interface.",
  vlan: "Pods of the network are in one VLAN, and pods of another network are not in it.",
  neighbour: "The other pod answers ARP.",
  ping: "Small UDP packets return.",
  mtu: "UDP packets of the size of the MTU return in one piece.",
  rdma: "The pod has the RDMA device of its VF, and the node has the RDMA mode of its pool.",
  throughput: "A TCP stream gets through.",
} as const satisfies Readonly<Record<string, string>>;

export type Layer = keyof typeof layers;

export const layerNames = Object.keys(layers) as readonly Layer[];

/** notChecked is no problem in itself: the text says why. */
export type LayerStatus = "ok" | "failed" | "notChecked";

export interface LayerResult {
  readonly layer: Layer;
  readonly status: LayerStatus;
  /** What was found, in a sentence. */
  readonly text: string;
  /** What to do, for a layer that failed. */
  readonly next?: string;
}

/** The result of one pod, or of a pair of pods. */
export interface Check {
  /** Name of the node, or of the node of the pod that sends. */
  readonly node: string;
  /** Node of the pod that answers; absent if the check is about one pod. */
  readonly peerNode?: string;
  readonly status: LayerStatus;
  /** The lowest layer that failed. */
  readonly failedLayer?: Layer;
  /** One result for each layer, in their order. */
  readonly results: readonly LayerResult[];
}

/** The check that follows from results of layers. It is notChecked if no layer was. */
export function checkOf(nodes: Pick<Check, "node" | "peerNode">, results: readonly LayerResult[]): Check {
  const sorted = layerNames.flatMap((layer) => results.find((result) => result.layer === layer) ?? []);
  const failed = sorted.find(({ status }) => status === "failed");
  const isChecked = sorted.some(({ status }) => status !== "notChecked");
  const status = failed !== undefined ? "failed" : isChecked ? "ok" : "notChecked";
  return { ...nodes, status, ...(failed !== undefined && { failedLayer: failed.layer }), results: sorted };
}
