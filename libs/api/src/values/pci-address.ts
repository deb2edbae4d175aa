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
