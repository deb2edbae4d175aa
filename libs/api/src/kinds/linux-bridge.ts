// SPDX-License-Identifier: Apache-2.0
/**
 * LinuxBridgeConfig and LinuxUplinkConfig are the settings of Linux bridges that users can change. Policies and node
 * states share them (upstream's proposal on software bridges).
 */

/** Settings of a Linux bridge. */
export interface LinuxBridgeConfig {
  /** Whether the bridge filters frames by VLAN. A BridgeNetwork with vlan or trunk requires it. Default: false. */
  readonly vlanFiltering?: boolean;
  /** VLAN protocol of the bridge. Default: 802.1Q. */
  readonly vlanProtocol?: "802.1Q" | "802.1ad";
}

/**
 * Settings of the PF as a port of the bridge. A key is the name of a file in /sys/class/net/PF/brport, its value the
 * text that is written to the file. The proposal does not define this field; these are all settings that the kernel
 * has.
 */
export type LinuxUplinkConfig = Readonly<Record<string, LinuxUplinkValue>>;

/**
 * A number in decimal digits, as in sysfs.
 * @maxLength 64
 */
export type LinuxUplinkValue = string;
