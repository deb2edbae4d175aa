// SPDX-License-Identifier: Apache-2.0
/**
 * Ovs is the port for the bridges of Open vSwitch. Rows that Switchyard inserted or adopted have an owner mark in
 * external_ids, which is written in the same transaction. All other rows are foreign and are never changed.
 */
import type { OvsBridgeConfig, OvsInterfaceConfig } from "@switchyard/api";

/** Open vSwitch at one moment. */
export interface OvsState {
  /** By ascending name. */
  readonly bridges: readonly ObservedOvsBridge[];
  readonly hardwareOffload: {
    /** Value of other_config:hw-offload. */
    readonly isOn: boolean;
    /** The argument of setHardwareOffload(); absent if something else configured hardware offload. */
    readonly mark?: string;
  };
  /** Why ovs-vswitchd forwards no packets; absent if it runs, or if there is no owned bridge for which to find it out. */
  readonly switchError?: string;
}

export interface ObservedOvsBridge {
  readonly name: string;
  readonly isOwned: boolean;
  /** Settings of an owned bridge, of its maps only the entries that Switchyard set; empty for a foreign bridge. */
  readonly settings: OvsBridgeConfig;
  /** All ports except for the one of the bridge itself, by ascending name. */
  readonly ports: readonly ObservedOvsPort[];
}

/** A port. A bond has one entry for each of its interfaces. */
export interface ObservedOvsPort {
  /** Name of the network interface. */
  readonly name: string;
  /** Type of the interface; "" and "system" are kernel interfaces. */
  readonly type: string;
  /** Absent if the port is not an uplink that Switchyard added. */
  readonly uplink?: {
    /** Address of the PF for which the port was added. */
    readonly pciAddress: string;
    /** Settings of the interface, of its maps only the entries that Switchyard set. */
    readonly settings: OvsInterfaceConfig;
  };
  /** Path of the network namespace of a pod, for which the CNI plugin ovs added the port; absent for all other ports. */
  readonly podNamespace?: string;
  /** Why the port does not work, in the words of ovs-vswitchd; absent if it works. */
  readonly error?: string;
  /** Whether ovs-vswitchd could not open the interface: its OpenFlow port number is -1. */
  readonly isMissing: boolean;
}

/** A bridge as it must be. Entries of maps that are not named here are left unchanged. */
export interface OvsBridgeSettings {
  readonly name: string;
  readonly settings: OvsBridgeConfig;
  readonly uplink: OvsUplinkSettings;
}

export interface OvsUplinkSettings {
  /** Name of the network interface. */
  readonly name: string;
  readonly pciAddress: string;
  readonly settings: OvsInterfaceConfig;
}

/**
 * Rejects with HostError only: ENOTCONN if there is no connection to the database, ETIMEDOUT if ovsdb-server or ovs-vswitchd
 * does not answer, EPROTO if the database refuses a transaction. `words` has the explanation.
 */
export interface Ovs {
  /** Returns undefined if the daemon does not manage software bridges: then it does not connect to the database. */
  readState(): Promise<OvsState | undefined>;
  /**
   * Creates the bridge, or changes it in place, and moves the uplink to it. Waits until ovs-vswitchd has applied it. EEXIST
   * if a foreign bridge has the name, EBUSY if the uplink is a port of a foreign bridge, EIO if ovs-vswitchd cannot use the
   * uplink.
   */
  setBridge(bridge: OvsBridgeSettings): Promise<void>;
  /**
   * Makes a network interface a port of an owned bridge, also one that was a port of another owned bridge. Waits until ovs-vswitchd
   * has applied it. ENODEV if the bridge does not exist, EPERM if it is foreign, EBUSY if the interface is a port of a foreign bridge,
   * EIO if ovs-vswitchd cannot use the interface.
   */
  addPort(bridge: string, port: string): Promise<void>;
  /** Removes an owned bridge with all ports. No error if it does not exist; EPERM if it is foreign. */
  removeBridge(name: string): Promise<void>;
  /** Removes ports from an owned bridge. No error for ports that do not exist; EPERM if the bridge is foreign. */
  removePorts(bridge: string, ports: readonly string[]): Promise<void>;
  /**
   * Marks an existing bridge, its uplink and the entries of maps that are named here as owned, and changes nothing else. No
   * error if the bridge does not exist or is owned already.
   */
  adoptBridge(bridge: OvsBridgeSettings): Promise<void>;
  /** Sets other_config:hw-offload, and stores the mark, from which the caller recognises that it did so. */
  setHardwareOffload(mark: string): Promise<void>;
  /** Returns an event for each change of owned bridges, of hardware offload and of the connection. */
  watch(signal: AbortSignal): AsyncIterable<OvsEvent>;
}

/** A hint to read the state. */
export interface OvsEvent {
  readonly kind: "changed";
}

/** Key of external_ids with the owner of a row. */
export const ovsOwnerKey = "switchyard.io/owner";

/** Prefix of the keys of external_ids that users cannot set. */
export const reservedOvsKeys = "switchyard.io/";

/** Name of a bridge that Switchyard creates for a PF, or that upstream created: "br-0000_3b_00.0". */
export function isPfBridgeName(name: string): boolean {
  return /^br-[0-9a-f]{4,8}_[0-9a-f]{2}_[0-9a-f]{2}\.[0-7]$/.test(name);
}
