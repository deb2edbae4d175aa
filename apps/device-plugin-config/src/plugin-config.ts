// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's file, and the record of what the plugin was started for: only where that record changes has the plugin to
 * start anew. Pure.
 * Usage: `const { text, record } = pluginConfig(rendered.config, kernel)`.
 */
import { formatDevicePluginConfig, type DevicePluginConfig, type DevicePluginResource } from "@switchyard/render";
import type { KernelVfs } from "./kernel-vfs.ts";

export interface PluginConfig {
  /** What the plugin reads. The order in which the spec names resources and VFs does not show: it means nothing. */
  readonly text: string;
  /** `text`, and which VFs it meant: the plugin looks at them once. */
  readonly record: string;
}

/**
 * The plugin ends at once where it is given no resource (it is given one that no device can match then), and its container
 * would end again and again.
 */
const nothing: DevicePluginResource = {
  resourceName: "none",
  selectors: { pciAddresses: ["none"], IsRdma: false, NeedVhostNet: false },
};

export function pluginConfig(config: DevicePluginConfig, kernel: KernelVfs): PluginConfig {
  const resources = (config.resourceList ?? []).map(sorted).toSorted((a, b) => order(a.resourceName, b.resourceName));
  const addresses = resources.flatMap(({ selectors }) => selectors.pciAddresses ?? []);
  const text = formatDevicePluginConfig({ resourceList: resources.length === 0 ? [nothing] : resources });
  const vfs = addresses.map((address) => [address, kernel.get(address)?.incarnation ?? "absent"]);
  return { text, record: JSON.stringify({ text, vfs: Object.fromEntries(vfs) as unknown }) };
}

function sorted({ selectors, ...resource }: DevicePluginResource): DevicePluginResource {
  const { pciAddresses = [] } = selectors;
  return { ...resource, selectors: { ...selectors, pciAddresses: pciAddresses.toSorted(order) } };
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
