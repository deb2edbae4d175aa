// SPDX-License-Identifier: Apache-2.0
/**
 * Columns of the OVSDB tables Bridge and Interface that users can set, shared by policies and node states
 * (sriov-operator.md A.4, A.5).
 */

/** Columns of the table Bridge in the Open vSwitch database. */
export interface OvsBridgeConfig {
  /** Column datapath_type: "netdev" for the datapath in user space; empty or "system" for the kernel's. */
  readonly datapathType?: string;
  /** Entries of the column external_ids; others in it are left alone. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** Entries of the column other_config; others in it are left alone. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /** Column fail_mode, what the bridge does without its controller: forward as a switch (standalone) or not (secure). */
  readonly failMode?: "secure" | "standalone";
}

/** Columns of the table Interface in the Open vSwitch database, for the PF's port. */
export interface OvsInterfaceConfig {
  /** Column type: "dpdk" for example; empty is an interface of the kernel. */
  readonly type?: string;
  /** Entries of the column options. */
  readonly options?: Readonly<Record<string, string>>;
  /** Entries of the column external_ids. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** Entries of the column other_config. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /**
   * Column mtu_request, in bytes. A policy's own mtu goes before it.
   * @asType integer
   */
  readonly mtuRequest?: number;
}
