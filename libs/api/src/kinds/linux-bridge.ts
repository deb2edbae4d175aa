// SPDX-License-Identifier: Apache-2.0
/**
 * Settings of Linux bridges that users can make, shared by policies and node states (the proposal on software bridges).
 */

/** Settings of a Linux bridge. */
export interface LinuxBridgeConfig {
  /** Keep VLANs apart, which a BridgeNetwork with vlan or trunk needs. */
  readonly vlanFiltering?: boolean;
  /** Tag that the bridge knows VLANs by; absent is 802.1Q. */
  readonly vlanProtocol?: "802.1Q" | "802.1ad";
}

/**
 * Settings of the PF as a port of the bridge, by the names of the files in /sys/class/net/PF/brport: what they hold is
 * what is written. The proposal leaves open what belongs here; this is all that the kernel has.
 */
export type LinuxUplinkConfig = Readonly<Record<string, LinuxUplinkValue>>;

/**
 * A number, as sysfs writes it.
 * @maxLength 64
 */
export type LinuxUplinkValue = string;
