// SPDX-License-Identifier: Apache-2.0
/**
 * PciAddress is a PCI address as in sysfs: domain, bus, device and function in lower-case hexadecimal, "0000:3b:00.0".
 * Usage: `parsePciAddress("0000:3b:00.0")`.
 */
import { err, ok, type Result } from "./result.ts";

declare const pciAddress: unique symbol;

/** A PCI address of the form "dddd:bb:dd.f". Only parsePciAddress can create one. */
export type PciAddress = string & { readonly [pciAddress]: true };

/** Why `text` is not a PCI address. */
export interface PciAddressProblem {
  readonly code: "malformed";
  readonly text: string;
}

/** Parses an address with its domain. Upper-case digits are converted to lower case, as in sysfs. */
export function parsePciAddress(text: string): Result<PciAddress, PciAddressProblem> {
  const lower = text.toLowerCase();
  return isPciAddress(lower) ? ok(lower) : err({ code: "malformed", text });
}

/** Returns the part of an address that all functions of a device have in common: "0000:3b:00" of "0000:3b:00.1". */
export function withoutFunction(address: string): string {
  return address.slice(0, address.lastIndexOf("."));
}

// A domain has four digits, or more behind a VMD controller ("10000:01:00.0").
function isPciAddress(text: string): text is PciAddress {
  return /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/.test(text);
}

declare const macAddress: unique symbol;

/**
 * MacAddress is an Ethernet MAC address as in sysfs: six bytes in lower-case hexadecimal, separated by colons.
 * A MAC address of the form "aa:bb:cc:dd:ee:ff". Only parseMacAddress can create one.
 */
export type MacAddress = string & { readonly [macAddress]: true };

/** Why `text` is not a MAC address. */
export interface MacAddressProblem {
  readonly code: "malformed";
  readonly text: string;
}

/**
 * Parses six bytes. Upper-case digits are converted to lower case. Group addresses and the all-zero address are
 * accepted, too; isUnicast excludes them.
 */
export function parseMacAddress(text: string): Result<MacAddress, MacAddressProblem> {
  const lower = text.toLowerCase();
  return isMacAddress(lower) ? ok(lower) : err({ code: "malformed", text });
}

/** Reports whether a network interface can have this address: it is not all zeros, and the group bit is not set. */
export function isUnicast(mac: MacAddress): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;
}

function isMacAddress(text: string): text is MacAddress {
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(text);
}

declare const guid: unique symbol;

/**
 * Guid is an InfiniBand GUID: eight bytes in lower-case hexadecimal, separated by colons.
 * A GUID of the form "02:00:00:00:00:00:00:01", not all zeros and not all ones. Only parseGuid can create one.
 */
export type Guid = string & { readonly [guid]: true };

/** Why `text` is not a GUID. */
export interface GuidProblem {
  readonly code: "malformed";
  readonly text: string;
}

/** Parses eight bytes. Upper-case digits are converted to lower case. */
export function parseGuid(text: string): Result<Guid, GuidProblem> {
  const lower = text.toLowerCase();
  return isGuid(lower) ? ok(lower) : err({ code: "malformed", text });
}

function isGuid(text: string): text is Guid {
  return /^(?!(?:00:?){8}$)(?!(?:ff:?){8}$)[0-9a-f]{2}(?::[0-9a-f]{2}){7}$/.test(text);
}

/**
 * isInterfaceName checks names of network interfaces from the API, which become parts of paths and lists.
 * As the kernel checks names (dev_valid_name, net/core/dev.c), and only printable ASCII characters.
 */
export function isInterfaceName(text: string): boolean {
  return /^[!-.0-9;-~]{1,15}$/.test(text) && text !== "." && text !== "..";
}
