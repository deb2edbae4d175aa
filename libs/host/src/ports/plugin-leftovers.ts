// SPDX-License-Identifier: Apache-2.0
/**
 * PluginLeftovers is the port for what the plugins of upstream (afxdp-plugins-for-kubernetes) leave on a host: XDP programs, BPF file
 * systems with maps, and sockets. Without a record, it is not known that something is a leftover of them.
 */
import type { XdpProgram } from "./xdp.ts";

/** A device that the plugin may have used. */
export interface UpstreamDevice {
  /** PCI address; the name for devices that are not on the PCI bus. */
  readonly device: string;
  /** The boot in which the plugin was last given the device. A program of an earlier boot does not exist any more. */
  readonly bootId: string;
  /** Id of the XDP program that the device had before, in this boot: it is not the plugin's. */
  readonly programBefore?: number;
  /** Names that the interface had, which are the ids of the device at the kubelet. */
  readonly names: readonly string[];
  /** Pools that had the device. */
  readonly pools: readonly string[];
}

/** An attached XDP program. */
export interface AttachedProgram extends XdpProgram {
  /** Names of the programs that run inside of it, if it is a dispatcher; "" for one without a name. */
  readonly components: readonly string[];
}

/** The XDP programs of an interface, and who uses it. */
export interface XdpUse {
  readonly programs: readonly AttachedProgram[];
  /** Number of AF_XDP sockets on the host that are bound to the interface; why the kernel does not say it. */
  readonly sockets: number | { readonly unknown: string };
}

/** The paths of one pool on the host. */
export interface PluginFiles {
  /** Directories for BPF file systems, also those without one. A directory with another file system is left out. */
  readonly mounts: readonly string[];
  readonly sockets: readonly { readonly path: string; readonly isYoung: boolean }[];
}

/** Rejects with HostError only. */
export interface PluginLeftovers {
  /** Returns the devices that the plugin was given, sorted. One readdir on a host where it never was given any. */
  listDevices(): Promise<readonly UpstreamDevice[]>;
  /** Removes the record of a device. No error if it does not exist. */
  removeDevice(device: string): Promise<void>;
  /** ENODEV if the interface does not exist. */
  readUse(name: string): Promise<XdpUse>;
  /** Detaches the program with this id. No error if it is not attached; EEXIST if it was replaced at this moment. */
  detachProgram(name: string, id: number): Promise<void>;
  /** An empty list for a name that the plugin does not accept for a pool. */
  listFiles(pool: string): Promise<PluginFiles>;
  /**
   * Unmounts the BPF file system, never by force, and removes its directory and, if empty, that of the pool. Can be repeated. EINVAL for
   * other paths; EBUSY if it is in use; the codes of Systemd; ENOTEMPTY for a directory with other files.
   */
  removeMount(path: string): Promise<void>;
  /** Removes the socket and, if empty, the directory of the pool. No error if it does not exist. EINVAL for other paths. */
  removeSocket(path: string): Promise<void>;
  /** Removes the directories of the plugin and of the records, if they are empty. The plugin must not run. */
  removeDirectories(): Promise<void>;
}
