// SPDX-License-Identifier: Apache-2.0
/**
 * containerEnv returns the variables by which programs find their VFs, as the device plugin for SR-IOV sets them:
 * PCIDEVICE_OPENSHIFT_IO_FAST has the addresses, and PCIDEVICE_OPENSHIFT_IO_FAST_INFO what the plugin knows about them. A pod that
 * requests an extended resource does not have to change when a claim stands behind it. It is a pure function.
 */
import type { PciAddress } from "@switchyard/api";

/** A VF of one request. */
export interface EnvVf {
  /** Full name: "openshift.io/fast". */
  readonly resource: string;
  readonly address: PciAddress;
  /** "/dev/vfio/12"; absent if the VF is not bound to vfio-pci. */
  readonly vfioGroup?: string;
}

/** Returns "NAME=value" for all VFs of one request. */
export function containerEnv(vfs: readonly EnvVf[]): readonly string[] {
  const byResource = Map.groupBy(vfs, ({ resource }) => resource);
  return [...byResource].flatMap(([resource, ofResource]) => {
    const name = `PCIDEVICE_${resource.replace(/[./]/g, "_").toUpperCase()}`;
    const info = Object.fromEntries(ofResource.map((vf) => [vf.address, infoOf(vf)]));
    return [`${name}=${ofResource.map(({ address }) => address).join(",")}`, `${name}_INFO=${JSON.stringify(info)}`];
  });
}

function infoOf({ address, vfioGroup }: EnvVf): object {
  return {
    generic: { deviceID: address },
    ...(vfioGroup !== undefined && { vfio: { "dev-mount": vfioGroup, mount: "/dev/vfio/vfio" } }),
  };
}
