// SPDX-License-Identifier: Apache-2.0
/**
 * attributesOf returns the attributes by which claims select a VF. Names that dra-driver-sriov has are the same and have the same
 * values (dra.md 2). Those that it lacks are in its domain, too: driver, mtu, linkSpeed, rdmaDevice, guid,
 * representor, rail.
 */
import {
  draDriverName,
  type DeviceAttribute,
  type InterfaceStatus,
  type VfGroup,
  type VfStatus,
} from "@switchyard/api";
import { multusDomain } from "./device-names.ts";

/** A VF with its PF and the group that it belongs to. */
export interface PublishedVf {
  readonly nic: InterfaceStatus;
  readonly vf: VfStatus;
  readonly group: VfGroup;
  /** Number of the PF among those of the node that have resources, by PCI address, from 0. It is the same on nodes of one build. */
  readonly rail: number;
}

/** The API server refuses longer strings (resource.k8s.io/v1, DeviceAttributeMaxValueLength). */
const maxLength = 64;

/** Attributes without a value, and those whose value the API server would refuse, are left out. `prefix` is that of the resources. */
export function attributesOf(
  { nic, vf, group, rail }: PublishedVf,
  prefix: string,
): Readonly<Record<string, DeviceAttribute>> {
  const resourceName = group.resourceName ?? "";
  const numaNode = group.excludeTopology ? undefined : nic.numaNode;
  const values: readonly (readonly [string, string | number | boolean | undefined])[] = [
    own("pciAddress", vf.pciAddress),
    own("PFName", nic.name),
    own("pfPciAddress", nic.pciAddress),
    own("EswitchMode", nic.eSwitchMode),
    own("vendor", vf.vendor ?? nic.vendor),
    own("deviceID", vf.deviceID),
    own("pfDeviceID", nic.deviceID),
    own("vfID", vf.vfID),
    own("resourceName", resourceName),
    own("linkType", linkTypes.get(nic.linkType ?? "") ?? "unknown"),
    own("rdmaCapable", group.isRdma === true || Boolean(vf.rdmaDevice)),
    own("driver", vf.driver),
    own("mtu", vf.mtu ?? group.mtu),
    own("linkSpeed", speedOf(nic.linkSpeed)),
    own("rdmaDevice", vf.rdmaDevice),
    own("guid", vf.guid),
    own("representor", vf.representorName),
    own("rail", rail),
    [`${multusDomain}/resourceName`, `${prefix}/${resourceName}`],
    [`${multusDomain}/deviceID`, vf.pciAddress],
    ["resource.kubernetes.io/pciBusID", vf.pciAddress],
    ["resource.kubernetes.io/pcieRoot", nic.pcieRoot],
    ["resource.kubernetes.io/numaNode", numaNode],
    ["dra.net/numaNode", numaNode ?? -1],
  ];
  return Object.fromEntries(values.flatMap(([name, value]) => toAttribute(name, value)));
}

function own<Value>(name: string, value: Value): readonly [string, Value] {
  return [`${draDriverName}/${name}`, value];
}

/** In the words of dra-driver-sriov. */
const linkTypes: ReadonlyMap<string, string> = new Map([
  ["ETH", "ethernet"],
  ["IB", "infiniband"],
]);

/** Returns the speed in Mb/s of "10000 Mb/s"; undefined while the link is down. */
function speedOf(text = ""): number | undefined {
  const speed = /^(\d{1,9}) Mb\/s$/.exec(text)?.[1];
  return speed === undefined ? undefined : Number(speed);
}

function toAttribute(
  name: string,
  value: string | number | boolean | undefined,
): readonly (readonly [string, DeviceAttribute])[] {
  switch (typeof value) {
    case "string":
      return value === "" || value.length > maxLength ? [] : [[name, { string: value }]];
    case "number":
      return Number.isSafeInteger(value) ? [[name, { int: value }]] : [];
    case "boolean":
      return [[name, { bool: value }]];
    case "undefined":
      return [];
  }
}
