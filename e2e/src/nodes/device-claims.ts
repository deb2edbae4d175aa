// SPDX-License-Identifier: Apache-2.0
/**
 * Writes what a DRA driver and the scheduler write: the devices of a node, and a ResourceClaim with an allocated
 * device.
 */
import { resourceClaims } from "@switchyard/api";
import { objectPath, type ObjectName, type Transport } from "@switchyard/kube";

const apiVersion = "resource.k8s.io/v1";

/** The devices that a driver publishes for a node. */
export interface Publication {
  readonly driver: string;
  readonly node: string;
  /** The attributes of each device, by the device's name. */
  readonly devices: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Applies the ResourceSlice "<node>-<driver>". The name of its pool is the node's name. */
export async function publishDevices(
  apply: (object: object) => Promise<void>,
  { driver, node, devices }: Publication,
): Promise<void> {
  const rows = Object.entries(devices).map(([name, texts]) => {
    const attributes = Object.entries(texts).map(([key, string]) => [key, { string }] as const);
    return { name, attributes: Object.fromEntries(attributes) };
  });
  await apply({
    apiVersion,
    kind: "ResourceSlice",
    metadata: { name: `${node}-${driver}` },
    spec: { driver, nodeName: node, pool: { name: node, generation: 1, resourceSliceCount: 1 }, devices: rows },
  });
}

/** A device that is allocated to a claim for a pod. */
export interface Allocation {
  readonly claim: Required<ObjectName>;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** The pod for which the claim is reserved: the controller deallocates a claim that is not reserved. */
  readonly pod: ObjectName & { readonly uid: string };
}

/** A claim for one device. allocateClaim() allocates it. */
export function deviceClaim(metadata: Required<ObjectName>): object {
  const requests = [{ name: "nic", exactly: { deviceClassName: "nics.example.com" } }];
  return { apiVersion, kind: "ResourceClaim", metadata, spec: { devices: { requests } } };
}

/** Writes the allocation to the claim's status. */
export async function allocateClaim(transport: Transport, allocation: Allocation): Promise<void> {
  const { claim, driver, pool, device, pod } = allocation;
  const results = [{ request: "nic", driver, pool, device }];
  await transport.request({
    method: "PATCH",
    path: objectPath(resourceClaims, claim, "status"),
    contentType: "application/merge-patch+json",
    body: {
      status: {
        allocation: { devices: { results } },
        reservedFor: [{ resource: "pods", name: pod.name, uid: pod.uid }],
      },
    },
  });
}
