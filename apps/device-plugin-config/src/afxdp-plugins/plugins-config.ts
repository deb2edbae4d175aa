// SPDX-License-Identifier: Apache-2.0
/**
 * pluginsConfig returns the configuration file of the plugin, and a record of the devices in it. The plugin must restart only if the
 * record changes. The record also has the names that devices keep while they are in pods. Both functions are pure.
 * Usage: `const config = pluginsConfig(rendered); const names = recordedNames(config.record);`
 */
import { formatAfxdpPluginsConfig, type RenderedAfxdpPlugins } from "@switchyard/render";
import type { PluginConfig } from "../plugin-config.ts";

export function pluginsConfig({ config, devices }: RenderedAfxdpPlugins): PluginConfig {
  const text = formatAfxdpPluginsConfig(config);
  const names = Object.fromEntries(devices.map(({ key, name }) => [key, name]));
  return { text, record: JSON.stringify({ text, names }) };
}

/** Returns the names of devices by their keys; an empty map for a record that cannot be read. */
export function recordedNames(record: string | undefined): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [key, name] of Object.entries(membersOf(membersOf(parse(record ?? ""))["names"]))) {
    if (typeof name === "string") names.set(key, name);
  }
  return names;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
