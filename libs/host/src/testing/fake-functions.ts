// SPDX-License-Identifier: Apache-2.0
/** Defines the PCI functions of the fake kernel as data. fake-pci.ts contains the rules. */
import type { PciAddress } from "@switchyard/api";
import type { EswitchMode } from "../ports/devices.ts";
import type { LinkVf } from "../ports/links.ts";
import { vfAddress, type FakePort, type FakeSriov } from "./nic-models.ts";

/** A physical function. */
export interface PfFunction extends PciFunction {
  readonly kind: "pf";
  readonly port: FakePort;
  /** Mode of the eswitch, which the driver forgets when it is unbound; absent if the driver has no eswitch. */
  eswitchMode: EswitchMode | undefined;
  /** Parameters of the driver by devlink. */
  readonly parameters: Map<string, string>;
  /** Value of sriov_numvfs. It is higher than the number of `vfs` while VFs have yet to appear. */
  numVfs: number;
  /** By vfId. */
  vfs: readonly VfFunction[];
}

/** A virtual function. */
export interface VfFunction extends PciFunction {
  readonly kind: "vf";
  readonly pf: PfFunction;
  readonly vfId: number;
  /** What the PF stores of the VF beside its address. */
  settings: VfSettings;
  /** Address that the PF stores: assigned, or reported by the VF driver. */
  pfMac: string | undefined;
  /** Whether pfMac was assigned. */
  isAssigned: boolean;
  /** InfiniBand GUID that was assigned by the PF. */
  guid: string | undefined;
  /** How often its kernel driver has been bound. */
  binds: number;
}

/** All of them are reported by the drivers of the models. */
export type VfSettings = Required<Omit<LinkVf, "vfId" | "mac" | "guid">>;

interface PciFunction {
  readonly pciAddress: PciAddress;
  readonly deviceId: string;
  /** The driver whose id table contains this function. */
  readonly nativeDriver: string;
  driver: string | undefined;
  /** Different after each creation, bind and unbind; set by fake-pci.ts. */
  incarnation: number;
  driverOverride: string | undefined;
}

export type AnyFunction = PfFunction | VfFunction;

/** Returns a PF before any driver is bound. */
export function newPf(port: FakePort): PfFunction {
  const { pciAddress, deviceId, driver: nativeDriver } = port;
  const fn = { pciAddress, deviceId, nativeDriver, driver: undefined, incarnation: 0, driverOverride: undefined };
  const parameters = new Map(Object.entries(port.parameters ?? {}));
  return { ...fn, kind: "pf", port, eswitchMode: port.eswitchMode, parameters, numVfs: 0, vfs: [] };
}

/** Returns a VF before any driver is bound. */
export function newVf(pf: PfFunction, sriov: FakeSriov, vfId: number): VfFunction {
  const { vfDeviceId: deviceId, vfDriver: nativeDriver } = sriov;
  const pciAddress = vfAddress(pf.pciAddress, sriov, vfId);
  const fn = { pciAddress, deviceId, nativeDriver, driver: undefined, incarnation: 0, driverOverride: undefined };
  const stored = { settings: newSettings(sriov), pfMac: undefined, isAssigned: false, guid: undefined };
  return { ...fn, kind: "vf", pf, vfId, ...stored, binds: 0 };
}

function newSettings({ checksSpoofing = true }: FakeSriov): VfSettings {
  return {
    vlan: 0,
    vlanQos: 0,
    vlanProtocol: "802.1Q",
    spoofCheck: checksSpoofing,
    trust: false,
    linkState: "auto",
    minTxRate: 0,
    maxTxRate: 0,
  };
}

export function portOf(fn: AnyFunction): FakePort {
  return fn.kind === "vf" ? fn.pf.port : fn.port;
}

export function isVirtio({ nativeDriver }: AnyFunction): boolean {
  return nativeDriver === "virtio-pci";
}

/** The GUID of the RDMA device that a driver creates for the function: that of the card, or the one that the PF assigned. */
export function guidOf(fn: AnyFunction): string {
  if (fn.kind === "vf") return fn.guid ?? noGuid;
  const [first = "", second = "", third = "", ...rest] = fn.port.mac.split(":");
  return [first, second, third, "03", "00", ...rest].join(":");
}

/** The GUID of a VF to which the PF has assigned none. */
export const noGuid = "00:00:00:00:00:00:00:00";

/** The address of an IPoIB interface ends with the GUID of the port. */
export function ipoibAddress(fn: AnyFunction): string {
  return `80:00:10:86:fe:80:00:00:00:00:00:00:${guidOf(fn)}`;
}
