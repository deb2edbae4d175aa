// SPDX-License-Identifier: Apache-2.0
/** matchesDevice decides which devices of a node an AF_XDP policy's nicSelector selects. */
import type { AfxdpInterfaceStatus, AfxdpNicSelector } from "@switchyard/api";
import { isNameOf } from "../nics/nic-selector.ts";

/** Reports whether no field is set. Empty strings and lists count as not set. Such a selector matches nothing. */
export function isEmptyAfxdpSelector(selector: AfxdpNicSelector): boolean {
  const { vendor, deviceID, driver, rootDevices = [], pfNames = [], macAddresses = [] } = selector;
  const lists = [rootDevices, pfNames, macAddresses];
  return !vendor && !deviceID && !driver && lists.every((list) => list.length === 0);
}

/** Reports whether the device matches all fields that are set. MAC addresses are compared without regard to case. */
export function matchesDevice(selector: AfxdpNicSelector, nic: AfxdpInterfaceStatus): boolean {
  const { vendor, deviceID, driver, rootDevices = [], pfNames = [], macAddresses = [] } = selector;
  return (
    !isEmptyAfxdpSelector(selector) &&
    (!vendor || vendor === nic.vendor) &&
    (!deviceID || deviceID === nic.deviceID) &&
    (!driver || driver === nic.driver) &&
    (rootDevices.length === 0 || (nic.pciAddress !== undefined && rootDevices.includes(nic.pciAddress))) &&
    (pfNames.length === 0 || pfNames.some((name) => isNameOf(name, nic))) &&
    (macAddresses.length === 0 || macAddresses.some((mac) => mac.toLowerCase() === nic.mac?.toLowerCase()))
  );
}

/** Reports whether the device could match the selector once all its properties are known: those that are absent count as matching. */
export function couldMatchDevice(selector: AfxdpNicSelector, nic: AfxdpInterfaceStatus): boolean {
  const { vendor, deviceID, driver, rootDevices = [], pfNames = [], macAddresses = [] } = selector;
  return (
    !isEmptyAfxdpSelector(selector) &&
    (!vendor || nic.vendor === undefined || vendor === nic.vendor) &&
    (!deviceID || nic.deviceID === undefined || deviceID === nic.deviceID) &&
    (!driver || nic.driver === undefined || driver === nic.driver) &&
    (rootDevices.length === 0 || nic.pciAddress === undefined || rootDevices.includes(nic.pciAddress)) &&
    (pfNames.length === 0 || !nic.name || pfNames.some((name) => isNameOf(name, nic))) &&
    (macAddresses.length === 0 || !nic.mac || macAddresses.some((mac) => mac.toLowerCase() === nic.mac?.toLowerCase()))
  );
}

/** Returns the path of the field that names the device: by PCI address, name or MAC address. Undefined if none does. */
export function fieldNaming(selector: AfxdpNicSelector, nic: AfxdpInterfaceStatus): string | undefined {
  const { rootDevices = [], pfNames = [], macAddresses = [] } = selector;
  const found = [
    { field: "rootDevices", index: rootDevices.findIndex((address) => address === nic.pciAddress) },
    { field: "pfNames", index: pfNames.findIndex((name) => isNameOf(name, nic)) },
    { field: "macAddresses", index: macAddresses.findIndex((mac) => mac.toLowerCase() === nic.mac?.toLowerCase()) },
  ].find(({ index }) => index >= 0);
  return found && `spec.nicSelector.${found.field}[${found.index}]`;
}
