// SPDX-License-Identifier: Apache-2.0
/**
 * Files that tell programs about the VFs of a claim. All functions are pure.
 *
 * - The device-info file of the NPWG (Network Plumbing Working Group, Device Information Specification 1.1.0), which Multus reads by
 *   resource and device. Multus 4.2 takes the name of the claim for the resource.
 * - The metadata file of KEP-5304, which programs in containers read (k8s.io/dynamic-resource-allocation/api/metadata, 1.36).
 */
import { defined, draDriverName } from "@switchyard/api";
import type { AllocatedClaim } from "@switchyard/policy";
import type { NodeVf } from "./find-vf.ts";

/** A file of the host. */
export interface HostFile {
  readonly path: string;
  readonly text: string;
}

/** A VF of a request. */
export interface RequestedVf {
  /** "request", or "request/subrequest". */
  readonly request: string;
  /** Name of the device in the ResourceSlice. */
  readonly device: string;
  readonly vf: NodeVf;
}

/** Directory of the device-info files of device plugins. */
export const deviceInfoDirectory = "/run/k8s.cni.cncf.io/devinfo/dp";

/** Returns one file for each name by which Multus can look for the VF. */
export function deviceInfoFiles({ address, pf, vf }: NodeVf, resources: readonly string[]): readonly HostFile[] {
  const pci = defined({
    "pci-address": address,
    "pf-pci-address": pf,
    "representor-device": vf.representorName,
    "rdma-device": vf.rdmaDevice,
  });
  const text = `${JSON.stringify({ type: "pci", version: "1.1.0", pci })}\n`;
  return [...new Set(resources)].map((resource) => {
    const name = `${resource}${deviceInfoEnd(address)}`.replaceAll("/", "-");
    return { path: `${deviceInfoDirectory}/${name}`, text };
  });
}

/** The end of the names of the device-info files of a VF. */
export function deviceInfoEnd(address: string): string {
  return `-${address}-device.json`;
}

/** A metadata file, and where containers see it. */
export interface MetadataFile extends HostFile {
  /** Name of the request, without subrequest. */
  readonly request: string;
  readonly containerPath: string;
}

/** The part of a request's name before the subrequest. */
export function baseRequest(request: string): string {
  return request.split("/")[0] ?? request;
}

/** Returns the beginning of the names of a claim's metadata files. */
export function metadataStart(uid: string): string {
  return `${uid}_`;
}

export interface MetadataOptions {
  /** Directory on the host for the files of all claims. */
  readonly directory: string;
  readonly pool: string;
  /** Prefix of resource names, without the slash. */
  readonly resourcePrefix: string;
}

/** Returns the file of one request with all its VFs. */
export function metadataFile(
  { namespace, name, uid, podClaimName }: Omit<AllocatedClaim, "devices">,
  vfs: readonly [RequestedVf, ...RequestedVf[]],
  { directory, pool, resourcePrefix }: MetadataOptions,
): MetadataFile {
  const { request } = vfs[0];
  const base = baseRequest(request);
  const devices = vfs.map(({ device, vf }) => ({
    driver: draDriverName,
    pool,
    name: device,
    attributes: {
      "resource.kubernetes.io/pciBusID": { string: vf.address },
      [`${draDriverName}/pciAddress`]: { string: vf.address },
      "k8s.cni.cncf.io/resourceName": { string: `${resourcePrefix}/${vf.group.resourceName ?? ""}` },
    },
  }));
  const content = {
    apiVersion: "metadata.resource.k8s.io/v1alpha1",
    kind: "DeviceMetadata",
    metadata: { namespace, name, uid, generation: 1 },
    ...defined({ podClaimName }),
    requests: [{ name: request, devices }],
  };
  const claim = podClaimName === undefined ? `resourceclaims/${name}` : `resourceclaimtemplates/${podClaimName}`;
  return {
    request: base,
    path: `${directory}/${metadataStart(uid)}${base}.json`,
    text: `${JSON.stringify(content)}\n`,
    containerPath: `/var/run/kubernetes.io/dra-device-attributes/${claim}/${base}/${draDriverName}-metadata.json`,
  };
}
