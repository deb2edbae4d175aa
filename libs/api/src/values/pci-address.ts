// SPDX-License-Identifier: Apache-2.0
/**
 * PCI addresses as the kernel writes them: domain, bus, device, function, in lower-case hexadecimal ("0000:3b:00.0").
 * Usage: `parsePciAddress("0000:3b:00.0")`.
 */
import { err, ok, type Result } from "./result.ts";

declare const pciAddress: unique symbol;

/** "dddd:bb:dd.f"; only parsePciAddress makes one. */
export type PciAddress = string & { readonly [pciAddress]: true };

/** Why `text` is no PCI address. */
export interface PciAddressProblem {
  readonly code: "malformed";
  readonly text: string;
}

/** Reads an address in full form; upper-case digits are lowered, as sysfs knows lower case only. */
export function parsePciAddress(text: string): Result<PciAddress, PciAddressProblem> {
  const lower = text.toLowerCase();
  return isPciAddress(lower) ? ok(lower) : err({ code: "malformed", text });
}

// Domains have four digits, or more behind a VMD controller ("10000:01:00.0").
function isPciAddress(text: string): text is PciAddress {
  return /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/.test(text);
}
