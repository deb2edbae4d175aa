// SPDX-License-Identifier: Apache-2.0
/**
 * The objects that another operator and dra-driver-sriov leave in a cluster (dra.md 2): a DeviceClass, one ResourceSlice for all
 * VFs of a node, and allocated claims with the pods that have them.
 */
import { draDriverName, resourceClaims } from "@switchyard/api";
import { collectionPath, listPages, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import type { FakeKubelet } from "@switchyard/kubelet/testing";
import { readAllocation } from "@switchyard/policy";
import { deviceNameOf } from "@switchyard/render";

/** A claim of one device in the namespace "default". */
interface Claimed {
  readonly name: string;
  readonly device: string;
}

export function foreignClass(name: string, resource: string): object {
  const expression =
    `device.driver == "${draDriverName}" && ` + `device.attributes["k8s.cni.cncf.io"].resourceName == "${resource}"`;
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name, labels: { "sriovnetwork.openshift.io/generated-by": "sriov-network-operator" } },
    spec: { selectors: [{ cel: { expression } }] },
  };
}

export interface ForeignSlice {
  readonly node: string;
  readonly nodeUid: string;
  readonly pf: string;
  readonly vfs: readonly string[];
  /** With the prefix. */
  readonly resource: string;
}

export function foreignSlice({ node, nodeUid, pf, vfs, resource }: ForeignSlice): object {
  const devices = vfs.map((address, vfID) => ({
    name: deviceNameOf(address),
    attributes: {
      [`${draDriverName}/pciAddress`]: { string: address },
      [`${draDriverName}/pfPciAddress`]: { string: pf },
      [`${draDriverName}/vfID`]: { int: vfID },
      "k8s.cni.cncf.io/resourceName": { string: resource },
      "k8s.cni.cncf.io/deviceID": { string: address },
    },
  }));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: {
      name: `${node}-${draDriverName}-x7k2p`,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: nodeUid, controller: true }],
    },
    spec: {
      driver: draDriverName,
      nodeName: node,
      pool: { name: node, generation: 4, resourceSliceCount: 1 },
      devices,
    },
  };
}

/** Creates the claims, and allocates the devices to them as the scheduler does. Rejects with KubeError. */
export async function writeClaims(
  transport: Transport,
  { node, claimed }: { readonly node: string; readonly claimed: readonly Claimed[] },
): Promise<void> {
  for (const { name, device } of claimed) {
    const exactly = { deviceClassName: "fast", allocationMode: "ExactCount", count: 1 };
    const body = {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name, namespace: "default" },
      spec: { devices: { requests: [{ name: "nic", exactly }] } },
    };
    const path = collectionPath(resourceClaims, "default");
    const claim = (await transport.request({ method: "POST", path, body })) as KubeObject;
    const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
    const results = [{ driver: draDriverName, pool: node, request: "nic", device }];
    const allocation = { devices: { results }, nodeSelector: { nodeSelectorTerms: [{ matchFields }] } };
    const reservedFor = [{ resource: "pods", name: podOf(name), uid: `uid-of-${name}` }];
    await transport.request({
      method: "PUT",
      path: objectPath(resourceClaims, { name, namespace: "default" }, "status"),
      body: { ...claim, status: { allocation, reservedFor } },
    });
  }
}

/** What the kubelet lists of the pods that have the claims. */
export function podsWithClaims({
  node,
  claimed,
}: {
  readonly node: string;
  readonly claimed: readonly Claimed[];
}): NonNullable<FakeKubelet["pods"]> {
  return claimed.map(({ name, device }) => {
    const ofClaim = { claim: name, driver: draDriverName, pool: node, device };
    return { name: podOf(name), namespace: "default", containers: [{ name: "app", devices: [], claimed: [ofClaim] }] };
  });
}

/** Returns the device of each allocated claim by the name of the claim. Rejects with KubeError. */
export async function allocatedClaims(transport: Transport): Promise<ReadonlyMap<string, string>> {
  const devices = new Map<string, string>();
  for await (const { items } of listPages(transport, { type: resourceClaims, namespace: "default" })) {
    for (const claim of items) {
      const [allocated] = readAllocation(claim);
      if (allocated !== undefined) devices.set(claim.metadata.name, allocated.device);
    }
  }
  return devices;
}

const podOf = (claim: string) => `pod-of-${claim}`;
