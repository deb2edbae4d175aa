// SPDX-License-Identifier: Apache-2.0
/**
 * findHolders finds which pod and which ResourceClaim has which PCI device of a node: Multus writes the addresses into the status
 * annotation of the pod, and drivers of dynamic resource allocation into ResourceSlices. The device plugin tells only the kubelet, so of
 * pods without such a status only the number of their VFs is known.
 */
import { claimedDevices, indexSlices, readSlice } from "@switchyard/policy";
import { addressOfDevice } from "@switchyard/render";
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
  /** ResourceClaims that have a device, by its PCI address: "apps/nic". */
  readonly claims: ReadonlyMap<string, string>;
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
  const byPool = Map.groupBy(claimedDevices(cluster.claims), ({ pool }) => pool);

  function addressesByClaim(pod: PodSummary): readonly (readonly [address: string, claim: string])[] {
    return pod.claims.flatMap((claim) => {
      const name = `${pod.namespace}/${claim}`;
      const addresses = (claims.get(name) ?? []).flatMap((device) => slices.addressesOf(device) ?? []);
      return addresses.map((address) => [address, name] as const);
    });
  }

  /** A claim of this driver has its VF also while it is in no slice, or while no pod uses the claim. */
  function claimsOfNode(node: string): Map<string, string> {
    return new Map(
      (byPool.get(node) ?? []).flatMap(({ device, claim }) => {
        const address = addressOfDevice(device);
        return address === undefined ? [] : [[address, claim] as const];
      }),
    );
  }

  return (node) => {
    const byAddress = new Map<string, Holder>();
    const unplaced = new Map<string, string[]>();
    const claimed = claimsOfNode(node);
    for (const pod of byNode.get(node) ?? []) {
      const name = nameOfPod(pod);
      for (const [address, claim] of addressesByClaim(pod)) {
        byAddress.set(address, { pod: name, podFrom: "resource-claim" });
        claimed.set(address, claim);
      }
      for (const address of pod.devices) byAddress.set(address, { pod: name, podFrom: "network-status" });
      if (pod.devices.length > 0) continue;
      for (const [resource, count] of pod.requests) {
        const short = resource.startsWith(`${resourcePrefix}/`) ? resource.slice(resourcePrefix.length + 1) : "";
        if (short !== "" && count > 0) unplaced.set(short, [...(unplaced.get(short) ?? []), name]);
      }
    }
    return { byAddress, unplaced, claims: claimed };
  };
}
