// SPDX-License-Identifier: Apache-2.0
/**
 * pluginConfig returns the configuration file of the plugin, and a record of the VFs that it names. The plugin must restart
 * only if the record changes. It is a pure function.
 * Usage: `const { text, record } = pluginConfig(rendered.config, kernel)`.
 */
import { formatDevicePluginConfig, type DevicePluginConfig, type DevicePluginResource } from "@switchyard/render";
import type { KernelVfs } from "./kernel-vfs.ts";

export interface PluginConfig {
  /** The file. It does not depend on the order of resources and VFs in the spec. */
  readonly text: string;
  /** `text` and the incarnations of its VFs, because the plugin reads the VFs only when it starts. */
  readonly record: string;
}

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
