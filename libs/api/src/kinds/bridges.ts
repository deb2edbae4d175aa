// SPDX-License-Identifier: Apache-2.0
/**
 * OvsBridgeConfig and OvsInterfaceConfig are the columns of the OVSDB tables Bridge and Interface that users can set.
 * Policies and node states share them (sriov-operator.md A.4, A.5).
 */

/** Columns of the Bridge table in the Open vSwitch database. */
export interface OvsBridgeConfig {
  /**
   * Column datapath_type: "netdev" for the userspace datapath, "system" or empty for the kernel datapath. Default:
   * empty.
   */
  readonly datapathType?: string;
  /** Entries of the column external_ids. Other entries of the column are left unchanged. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** Entries of the column other_config. Other entries of the column are left unchanged. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /**
   * Column fail_mode: whether the bridge forwards frames like a learning switch (standalone) or drops them (secure)
   * while its controller is not connected. By default, Open vSwitch decides.
   */
  readonly failMode?: "secure" | "standalone";
}

/** Columns of the Interface table in the Open vSwitch database, for the PF's port. */
export interface OvsInterfaceConfig {
  /** Column type, for example "dpdk". Default: empty, a kernel interface. */
  readonly type?: string;
  /** Entries of the column options. */
  readonly options?: Readonly<Record<string, string>>;
  /** Entries of the column external_ids. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** Entries of the column other_config. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /**
   * Column mtu_request: MTU of the interface in bytes. The policy's spec.mtu, if set, takes precedence.
   * @asType integer
   */
  readonly mtuRequest?: number;
}

/**
 * LinuxBridgeConfig and LinuxUplinkConfig are the settings of Linux bridges that users can change. Policies and node
 * states share them (upstream's proposal on software bridges).
 * Settings of a Linux bridge.
 */
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
type LinuxUplinkValue = string;
