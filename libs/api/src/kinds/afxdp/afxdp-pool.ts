// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of a pool of AF_XDP devices. Policies have them, and the operator copies them to the node states
 * (eve-and-afxdp.md b1). The CRDs' descriptions are generated from the JSDoc in this file: `npm run generate`.
 */

/**
 * What a pool consists of: network interfaces that exist already (primary), or subfunctions that Switchyard creates on them
 * (subfunction).
 */
export type AfxdpMode = "primary" | "subfunction";

/**
 * Name of a pool.
 * @maxLength 20
 * @x-kubernetes-validations [{
 *   rule: "self.matches('^[a-zA-Z0-9]+$')",
 *   message: "must consist of letters and digits, at most 20: \"intelnics\""
 * }]
 */
export type AfxdpPoolName = string;

/** How the devices of a pool reach pods. */
export interface AfxdpPoolSettings {
  /**
   * Whether pods get the XSK map of a device over a Unix socket, /tmp/afxdp_dp/DEVICE/afxdp.sock. DPDK uses it with
   * use_cni=1.
   * @default true
   */
  readonly udsServer?: boolean;
  /**
   * Whether pods get the XSK map of a device as a file, /tmp/afxdp_dp/DEVICE/xsks_map. DPDK uses it with
   * use_pinned_map=1. If this and udsServer are false, no XDP program is loaded: programs in pods must load their own.
   * @default false
   */
  readonly bpfMapPinning?: boolean;
  /**
   * Seconds after which a connection to the Unix socket is closed if the pod sends nothing: -1 for never, 0 for the
   * default, 30, or 30 to 300.
   * @asType integer
   * @default 0
   * @x-kubernetes-validations [{
   *   rule: "self == -1 || self == 0 || (30 <= self && self <= 300)",
   *   message: "must be -1 (never), 0 (the default) or a number of seconds from 30 to 300"
   * }]
   */
  readonly udsTimeout?: number;
  /**
   * User ID of the processes that use the devices: 0, the default, for root, or 1000 to 4294967294, the last one that Linux has.
   * OpenShift assigns numbers such as 1000680000. The socket and the file are accessible to this user. With provider upstream,
   * at most 256000.
   * @asType integer
   * @default 0
   * @x-kubernetes-validations [{
   *   rule: "self == 0 || (1000 <= self && self <= 4294967294)",
   *   message: "must be 0 or a user ID from 1000 to 4294967294"
   * }]
   */
  readonly uid?: number;
  /**
   * Whether the devices are offered only on nodes that allow BPF to unprivileged processes: those where the kernel
   * parameter kernel.unprivileged_bpf_disabled is 0.
   * @default false
   */
  readonly requiresUnprivilegedBpf?: boolean;
  /**
   * Whether to hide the NUMA node of the devices from the kubelet, so that the topology manager ignores them.
   * @default false
   */
  readonly excludeTopology?: boolean;
}
