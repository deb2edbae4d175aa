// SPDX-License-Identifier: Apache-2.0
/**
 * createPodClaims finds the prepared claims of a pod whose VFs it names networks for. A pod starts while the container runtime waits, so
 * claims that name no network are read once only.
 */
import { draDriverName } from "@switchyard/api";
import { isRecord, recordAt } from "@switchyard/kube";
import type { ClaimRef } from "@switchyard/kubelet";
import type { PodSandbox } from "@switchyard/nri";
import { parseAllocatedClaim, type AllocatedClaim } from "@switchyard/policy";
import type { ClaimRecord } from "@switchyard/render";

export interface PodClaimsDeps {
  /** Name of the node. */
  readonly pool: string;
  /** Returns the records of all prepared claims. */
  readonly records: () => Promise<readonly ClaimRecord[]>;
  /** Reads the ResourceClaim from the API server. */
  readonly readClaim: (claim: ClaimRef, signal: AbortSignal) => Promise<unknown>;
}

export type PodClaims = (
  pod: Pick<PodSandbox, "namespace" | "uid">,
  signal: AbortSignal,
) => Promise<readonly AllocatedClaim[]>;

/**
 * The function rejects if a claim cannot be read, or that of the pod is malformed: then it is not known whether the pod gets an interface.
 */
export function createPodClaims({ pool, records, readClaim }: PodClaimsDeps): PodClaims {
  let withoutNetworks = new Set<string>();
  return async ({ namespace, uid }, signal) => {
    const all = await records();
    const keys = new Set(all.map(keyOf));
    withoutNetworks = new Set([...withoutNetworks].filter((key) => keys.has(key)));
    const asked = all.filter((record) => record.namespace === namespace && !withoutNetworks.has(keyOf(record)));
    const found = await Promise.all(
      asked.map(async (record) => {
        const object = await readClaim(record, signal);
        const claim = parseAllocatedClaim(object, { driver: draDriverName, pool });
        const isOfPod = isReservedFor(object, uid);
        if (!claim.ok) {
          if (!isOfPod) return [];
          throw new Error(`claim ${record.namespace}/${record.name}: ${claim.error}`);
        }
        if (claim.value.uid !== record.uid) return []; // another claim has the name now
        if (claim.value.devices.every(({ config }) => config.netAttachDefName === undefined)) {
          withoutNetworks.add(keyOf(record));
          return [];
        }
        return isOfPod ? [claim.value] : [];
      }),
    );
    return found.flat();
  };
}

/** A claim that is allocated again can have another configuration, and has other VFs or requests. */
function keyOf({ uid, devices }: ClaimRecord): string {
  return `${uid} ${devices.map(({ pciAddress, request }) => `${pciAddress} ${request}`).join(" ")}`;
}

function isReservedFor(claim: unknown, uid: string): boolean {
  const { reservedFor } = recordAt(claim, "status");
  const pods = Array.isArray(reservedFor) ? reservedFor.filter(isRecord) : [];
  return pods.some((pod) => pod["resource"] === "pods" && pod["uid"] === uid);
}
