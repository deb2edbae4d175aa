// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpPluginsConfig is the configuration of the device plugin of afxdp-plugins-for-kubernetes (eve-and-afxdp.md b1), as far as
 * Switchyard uses it: pools of devices that are listed by name. Lists by PCI or MAC address never match, and those by driver and
 * node are not needed for a configuration that belongs to one node.
 * Usage: `const text = formatAfxdpPluginsConfig(config);`
 */

/** The content of the plugin's configuration file. */
export interface AfxdpPluginsConfig {
  readonly logLevel: AfxdpPluginsLogLevel;
  /** Sorted by name. The plugin also runs without pools, and then offers nothing. */
  readonly pools: readonly AfxdpPluginsPool[];
}

export type AfxdpPluginsLogLevel = "warning" | "info" | "debug";

/** A pool with at least one device. Settings are absent if they have the plugin's default. */
export interface AfxdpPluginsPool {
  /** Name of the resource, the part after "afxdp/". */
  readonly name: string;
  readonly mode: "primary";
  /** Sorted by name. */
  readonly devices: readonly { readonly name: string }[];
  /** User that may use the sockets: 1000 to 256000. */
  readonly uid?: number;
  readonly udsServerDisable?: true;
  readonly bpfMapPinningEnable?: true;
  /** -1 for never, or 30 to 300 seconds. */
  readonly udsTimeout?: number;
  readonly requiresUnprivilegedBpf?: true;
}

/** Formats the configuration. Equal configurations result in equal bytes. */
export function formatAfxdpPluginsConfig({ logLevel, pools }: AfxdpPluginsConfig): string {
  return `${JSON.stringify({ logLevel, pools }, undefined, 2)}\n`;
}

/** Returns the plugin's log level for spec.logLevel of the AfxdpOperatorConfig. */
export function afxdpPluginsLogLevel(verbosity: number | undefined): AfxdpPluginsLogLevel {
  if (verbosity === 0) return "warning";
  return verbosity === 2 ? "debug" : "info";
}
