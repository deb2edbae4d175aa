// SPDX-License-Identifier: Apache-2.0
/**
 * LinuxBridges is the port for Linux bridges in the network namespace of the daemon (rtnetlink). It changes only bridges that
 * it created: each has a mark from its first moment. Rejects with HostError only: EPERM for a bridge without the mark.
 */

/** A Linux bridge. */
export interface ObservedLinuxBridge {
  readonly name: string;
  /** Whether createBridge created it. */
  readonly isOwn: boolean;
  /** Whether everything that createBridge does is done. */
  readonly isComplete: boolean;
  readonly adminUp: boolean;
  readonly vlanFiltering: boolean;
  /** Absent for a protocol that is neither of the two. */
  readonly vlanProtocol?: VlanProtocol;
  /** By ascending index; empty if the bridge is not an own one. */
  readonly ports: readonly LinuxBridgePort[];
}

export type VlanProtocol = "802.1Q" | "802.1ad";

export interface LinuxBridgeVlans {
  readonly filtering: boolean;
  readonly protocol: VlanProtocol;
}

/** A port of a Linux bridge. */
export interface LinuxBridgePort {
  readonly name: string;
  /** Device of the port: bus "pci", name "0000:01:00.0"; absent for virtual interfaces. */
  readonly parent?: { readonly bus: string; readonly name: string };
  readonly settings: LinuxBridgePortSettings;
}

/** Numbers by the names of files in /sys/class/net/PORT/brport: { learning: 0 }. */
export type LinuxBridgePortSettings = Readonly<Record<string, number>>;

/** Methods that take the name of a bridge reject with ENODEV if there is none. */
export interface LinuxBridges {
  /** Returns all bridges by ascending index. */
  listBridges(): Promise<readonly ObservedLinuxBridge[]>;
  /** Creates a bridge that is down, or completes an own one. EEXIST if the name is in use otherwise. */
  createBridge(name: string): Promise<void>;
  setVlans(name: string, vlans: LinuxBridgeVlans): Promise<void>;
  /** EBUSY if the interface is a port of another bridge or of a bond. */
  addPort(name: string, port: string): Promise<void>;
  /** Makes `port` independent. EINVAL if it is not a port of the bridge. */
  removePort(name: string, port: string): Promise<void>;
  /** EINVAL for an unknown setting, and for values that the kernel refuses. */
  setPort(name: string, port: string, settings: LinuxBridgePortSettings): Promise<void>;
  setAdminUp(name: string, up: boolean): Promise<void>;
  /** Removes the bridge. Its ports become independent. */
  deleteBridge(name: string): Promise<void>;
}
