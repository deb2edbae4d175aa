// SPDX-License-Identifier: Apache-2.0
/**
 * pluginConfig returns the configuration file of the plugin, and a record of the VFs that it names. The plugin must restart
 * only if the record changes. It is a pure function.
 */
import { parsePciAddress } from "@switchyard/api";
import type { PciBinding, SriovSysfs } from "@switchyard/host/sysfs";
import { formatDevicePluginConfig, type DevicePluginConfig, type DevicePluginResource } from "@switchyard/render";

export interface PluginConfig {
  /** The file. It does not depend on the order of resources and VFs in the spec. */
  readonly text: string;
  /** `text` and the incarnations of its VFs, because the plugin reads the VFs only when it starts. */
  readonly record: string;
}

/** Existing VFs by PCI address. */
export type KernelVfs = ReadonlyMap<string, PciBinding>;

/** The plugin exits if its file contains no resource. This resource matches no device. */
const noResource: DevicePluginResource = {
  resourceName: "none",
  selectors: { pciAddresses: ["none"], IsRdma: false, NeedVhostNet: false },
};

export function pluginConfig(config: DevicePluginConfig, kernel: KernelVfs): PluginConfig {
  const resources = (config.resourceList ?? []).map(sorted).toSorted((a, b) => compare(a.resourceName, b.resourceName));
  const addresses = resources.flatMap(({ selectors }) => selectors.pciAddresses ?? []);
  const text = formatDevicePluginConfig({ resourceList: resources.length === 0 ? [noResource] : resources });
  const vfs = addresses.map((address) => [address, kernel.get(address)?.incarnation ?? "absent"]);
  return { text, record: JSON.stringify({ text, vfs: Object.fromEntries(vfs) as unknown }) };
}

function sorted({ selectors, ...resource }: DevicePluginResource): DevicePluginResource {
  const { pciAddresses = [] } = selectors;
  return { ...resource, selectors: { ...selectors, pciAddresses: pciAddresses.toSorted(compare) } };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * readKernelVfs reads from the kernel which VFs exist, and their drivers. The status of the NodeState shows the last observation
 * of the config daemon: after a reboot it contains VFs that no longer exist. Reads the VF at each address; a text that is not a
 * PCI address is skipped. Rejects with HostError.
 */
export async function readKernelVfs(
  sriov: Pick<SriovSysfs, "readBinding">,
  pciAddresses: Iterable<string>,
): Promise<KernelVfs> {
  const vfs = new Map<string, PciBinding>();
  for (const pciAddress of pciAddresses) {
    const parsed = parsePciAddress(pciAddress); // from the status, which is not validated
    const vf = parsed.ok ? await sriov.readBinding(parsed.value) : undefined;
    if (vf !== undefined) vfs.set(pciAddress, vf);
  }
  return vfs;
}
