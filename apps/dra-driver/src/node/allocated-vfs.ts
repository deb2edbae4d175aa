// SPDX-License-Identifier: Apache-2.0
/**
 * readAllocatedVfs lists the VFs of the node that the scheduler has allocated to ResourceClaims, also those whose pod has not started yet.
 * Claims cannot be selected by node, so this lists all of the cluster. It is needed only while the node returns to the device plugin.
 */
import { draDriverName, resourceClaims } from "@switchyard/api";
import { listPages, recordAt, type Transport } from "@switchyard/kube";
import { parseAllocatedClaim } from "@switchyard/policy";
import { addressOfDevice } from "@switchyard/render";

export interface AllocatedVfsDeps {
  readonly transport: Transport;
  readonly nodeName: string;
}

/** Returns PCI addresses. Rejects with KubeError. */
export async function readAllocatedVfs(
  { transport, nodeName }: AllocatedVfsDeps,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const addresses = new Set<string>();
  for await (const { items } of listPages(transport, { type: resourceClaims, pageSize: 500, signal })) {
    for (const claim of items) {
      for (const device of devicesOf(claim, nodeName)) {
        const address = addressOfDevice(device);
        if (address !== undefined) addresses.add(address);
      }
    }
  }
  return addresses;
}

/** The configuration of a claim can be wrong; it is allocated all the same. */
function devicesOf(claim: unknown, nodeName: string): readonly string[] {
  const { results } = recordAt(claim, "status", "allocation", "devices");
  const { metadata } = recordAt(claim);
  const plain = { metadata, status: { allocation: { devices: { results } } } };
  const parsed = parseAllocatedClaim(plain, { driver: draDriverName, pool: nodeName });
  return parsed.ok ? parsed.value.devices.filter(({ isAdmin }) => !isAdmin).map(({ device }) => device) : [];
}
