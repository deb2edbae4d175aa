// SPDX-License-Identifier: Apache-2.0
/**
 * The file with the network cards of a virtual machine. A card that is bound to vfio-pci has no MAC address on the host, so
 * its network can be found only by what was recorded before.
 */
import { parseMacAddress, parsePciAddress, parseLimitedJson, type MacAddress, type PciAddress } from "@switchyard/api";

export const knownNicsPath = "/etc/sriov-operator/virtual-nics.json";

/** A card by its PCI address in this machine. */
export interface KnownNic {
  readonly pciAddress: PciAddress;
  readonly mac: MacAddress;
  readonly netFilter: string;
}

export function formatKnownNics(nics: readonly KnownNic[]): string {
  return `${JSON.stringify({ nics }, undefined, 2)}\n`;
}

/** Leaves out entries that are not complete. A file that is not JSON has no entries. */
export function parseKnownNics(text: string): readonly KnownNic[] {
  let value: unknown;
  try {
    value = parseLimitedJson(text);
  } catch {
    return [];
  }
  const nics: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "nics") : undefined;
  return Array.isArray(nics) ? nics.flatMap(parseNic) : [];
}

function parseNic(value: unknown): readonly KnownNic[] {
  if (typeof value !== "object" || value === null) return [];
  const field = (key: string): string => {
    const text: unknown = Reflect.get(value, key);
    return typeof text === "string" ? text : "";
  };
  const pciAddress = parsePciAddress(field("pciAddress"));
  const mac = parseMacAddress(field("mac"));
  const netFilter = field("netFilter");
  if (!pciAddress.ok || !mac.ok || !/^(?:openstack|aws)\/NetworkID:[\w-]{1,64}$/.test(netFilter)) return [];
  return [{ pciAddress: pciAddress.value, mac: mac.value, netFilter }];
}
