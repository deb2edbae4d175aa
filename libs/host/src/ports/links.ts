// SPDX-License-Identifier: Apache-2.0
/**
 * Links is the port for the network interfaces in the network namespace of the daemon (rtnetlink).
 */
import type { MacAddress } from "@switchyard/api";
import type { VlanProtocol } from "./linux-bridges.ts";

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  readonly altNames: readonly string[];
  /** Lower-case bytes with colons: six for Ethernet, twenty for InfiniBand; "" if it has no address. */
  readonly mac: string;
  /** The address that the hardware has, in the same format; absent if it has none, and on virtual interfaces. */
  readonly permanentMac?: string;
  readonly mtu: number;
  /** Largest MTU of the device; absent if the driver does not report it. */
  readonly maxMtu?: number;
  readonly adminUp: boolean;
  /** Whether somebody has set it to promiscuous mode. Programs that capture packets do not count. */
  readonly promiscuous: boolean;
  readonly type: "ether" | "infiniband" | "other";
  /** Device of the interface: bus "pci", name "0000:01:00.0", also of a virtio NIC; absent for virtual interfaces. */
  readonly parent?: { readonly bus: string; readonly name: string };
  /** "bridge", "bond", "vlan", "openvswitch"; absent for hardware. */
  readonly kind?: string;
  /** Index of the bridge, bond or other interface of which this one is a port. */
  readonly masterIndex?: number;
  /** Index of the interface below a VLAN or macvlan, and of the other end of a veth, in the same network namespace. */
  readonly lowerIndex?: number;
  /** "p0", "pf0vf3"; absent if the driver has no port names (EOPNOTSUPP). */
  readonly physPortName?: string;
  /** Hexadecimal; the same for all ports of one embedded switch. */
  readonly physSwitchId?: string;
  /** Whether it has an XDP program. Xdp.readPrograms() describes it. */
  readonly hasXdp: boolean;
  /** VF settings stored by the PF, by ascending vfId. */
  readonly vfs: readonly LinkVf[];
}

/** The settings of one VF that its PF stores. */
export interface LinkVf {
  readonly vfId: number;
  /**
   * The address that was assigned to the VF, or, on igb and i40e, the address that the driver of the VF reported to the PF.
   * The two cannot be distinguished. All zero if there is neither.
   */
  readonly mac: string;
  /** 0 means no VLAN. */
  readonly vlan: number;
  /** Priority of the VLAN. */
  readonly vlanQos: number;
  /** Absent for a protocol that is neither of the two. */
  readonly vlanProtocol?: VlanProtocol;
  /** Whether packets with other source addresses are dropped; absent if the driver does not report it. */
  readonly spoofCheck?: boolean;
  /** Whether the VF may change its address and see other traffic; absent if the driver does not report it. */
  readonly trust?: boolean;
  readonly linkState: VfLinkState;
  /** In Mb/s; 0 for no limit. */
  readonly minTxRate: number;
  /** In Mb/s; 0 for no limit. */
  readonly maxTxRate: number;
  /** InfiniBand node GUID that was assigned to the VF, as Guid, or all zeros; absent for other links and old kernels. */
  readonly guid?: string;
}

/** The state of the link that a VF sees: that of the PF's port, always up, or always down. */
export type VfLinkState = "auto" | "enable" | "disable";

/** One setting of a VF that its PF stores. It stays when the driver of the VF is bound again, and ends with the VF. */
export type VfSetting =
  | { readonly vlan: number; readonly qos: number; readonly protocol: VlanProtocol }
  | { readonly spoofCheck: boolean }
  | { readonly trust: boolean }
  | { readonly linkState: VfLinkState }
  | { readonly minTxRate: number; readonly maxTxRate: number };

/** Rejects with HostError only. Its `words` are the extended ack of the kernel. */
export interface Links {
  /** Returns all interfaces with their VF settings, by ascending index. */
  listLinks(): Promise<readonly Link[]>;
  /** Returns the speed in Mb/s; undefined if the link is down or the driver does not report it. */
  readSpeedMbps(name: string): Promise<number | undefined>;
  /** ENODEV if the interface does not exist. */
  setMtu(name: string, mtu: number): Promise<void>;
  setAdminUp(name: string, up: boolean): Promise<void>;
  /**
   * Assigns an address to the VF. It takes effect when a driver binds to the VF the next time, on igb only if the interface of
   * the PF is up at that time (seen on 6.12). EINVAL if the VF does not exist, EOPNOTSUPP if the PF does not support VFs.
   */
  setVfMac(pfName: string, vfId: number, mac: MacAddress): Promise<void>;
  /** EINVAL if the VF does not exist or the value is not possible, EOPNOTSUPP if the driver of the PF does not have the setting. */
  setVf(pfName: string, vfId: number, setting: VfSetting): Promise<void>;
  /**
   * Returns the state of a feature, such as "hw-tc-offload"; undefined if the kernel does not know it. ENODEV if the interface
   * does not exist.
   */
  readFeature(name: string, feature: string): Promise<LinkFeature | undefined>;
  /** Turns a feature on or off. EOPNOTSUPP if it is unknown, or if the driver keeps it as it is. */
  setFeature(name: string, feature: string, on: boolean): Promise<void>;
}

/** The state of a feature of an interface (ethtool -k). */
export interface LinkFeature {
  readonly on: boolean;
  /** Whether the driver can change it. */
  readonly changeable: boolean;
}

/** A network in which the host has an address. */
export interface ConnectedNetwork {
  /** "10.7.0.0/16". */
  readonly network: string;
  /** Indexes of the interfaces, in ascending order. */
  readonly links: readonly number[];
}

/**
 * Routes is the port for the routing tables in the network namespace of the daemon (rtnetlink). Rejects with HostError only.
 */
export interface Routes {
  /** Returns the indexes of the interfaces of all default routes, of IPv4 and IPv6 and in all tables, in ascending order. */
  listDefaultRouteLinks(): Promise<readonly number[]>;
  /**
   * Returns the networks in which the host has an address, with the indexes of their interfaces: routes without a gateway, of both
   * families and in all tables. Link-local networks are left out.
   */
  listConnectedNetworks(): Promise<readonly ConnectedNetwork[]>;
  /** Returns the indexes of the interfaces by which packets to an IP address leave; empty if there is no route. EINVAL. */
  listRouteLinks(address: string): Promise<readonly number[]>;
}
