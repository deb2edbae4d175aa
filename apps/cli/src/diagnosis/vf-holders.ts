// SPDX-License-Identifier: Apache-2.0
/**
 * findHolders finds which pod has which PCI device of a node: Multus writes the addresses into the status annotation of the pod,
 * and drivers of dynamic resource allocation into ResourceSlices. The device plugin tells only the kubelet, so of pods without
 * such a status only the number of their VFs is known.
 */
import { indexSlices, readSlice } from "@switchyard/policy";
import { allocationsIn } from "../cluster/evicted-pods.ts";
import type { PodSummary } from "./pod-summary.ts";
import { nameOfPod } from "./rules/drains.ts";
import type { Snapshot } from "./snapshot.ts";

/** The pods of one node. */
export interface Holders {
  /** Keyed by PCI address. */
  readonly byAddress: ReadonlyMap<string, Holder>;
  /** Pods with devices whose addresses are unknown, by resource without prefix. */
  readonly unplaced: ReadonlyMap<string, readonly string[]>;
}

export interface Holder {
  readonly pod: string;
  readonly podFrom: "network-status" | "resource-claim";
}

/** The index of claims and slices is made once, and the holders of a node when they are asked for. */
export function findHolders(snapshot: Snapshot): (node: string) => Holders {
  const { cluster, pods, resourcePrefix } = snapshot;
  const slices = indexSlices(cluster.slices.flatMap((slice) => readSlice(slice) ?? []));
  const claims = allocationsIn(cluster.claims);
  const byNode = Map.groupBy(pods, ({ node }) => node);

  function addressesByClaim(pod: PodSummary): readonly string[] {
    const devices = pod.claims.flatMap((claim) => claims.get(`${pod.namespace}/${claim}`) ?? []);
    return devices.flatMap((device) => slices.addressesOf(device) ?? []);
  }

  return (node) => {
    const byAddress = new Map<string, Holder>();
    const unplaced = new Map<string, string[]>();
    for (const pod of byNode.get(node) ?? []) {
      const name = nameOfPod(pod);
      for (const address of addressesByClaim(pod)) byAddress.set(address, { pod: name, podFrom: "resource-claim" });
      for (const address of pod.devices) byAddress.set(address, { pod: name, podFrom: "network-status" });
      if (pod.devices.length > 0) continue;
      for (const [resource, count] of pod.requests) {
        const short = resource.startsWith(`${resourcePrefix}/`) ? resource.slice(resourcePrefix.length + 1) : "";
        if (short !== "" && count > 0) unplaced.set(short, [...(unplaced.get(short) ?? []), name]);
      }
    }
    return { byAddress, unplaced };
  };
}
