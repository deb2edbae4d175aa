// SPDX-License-Identifier: Apache-2.0
/**
 * Columns of the OVSDB tables Bridge and Interface that users can set, shared by policies and node states
 * (sriov-operator.md A.4, A.5).
 */

/** Columns of the table Bridge. */
export interface OvsBridgeConfig {
  /** datapath_type: "system" (empty) or "netdev". */
  readonly datapathType?: string;
  /** external_ids. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** other_config. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /** fail_mode: what the bridge does without a controller. */
  readonly failMode?: "secure" | "standalone";
}

/** Columns of the table Interface for the PF's port. */
export interface OvsInterfaceConfig {
  /** type: "dpdk" for example; empty is a system interface. */
  readonly type?: string;
  /** options. */
  readonly options?: Readonly<Record<string, string>>;
  /** external_ids. */
  readonly externalIDs?: Readonly<Record<string, string>>;
  /** other_config. */
  readonly otherConfig?: Readonly<Record<string, string>>;
  /**
   * mtu_request.
   * @asType integer
   */
  readonly mtuRequest?: number;
}
