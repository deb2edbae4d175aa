// SPDX-License-Identifier: Apache-2.0
/**
 * MacAddress is an Ethernet MAC address as in sysfs: six bytes in lower-case hexadecimal, separated by colons.
 * Usage: `parseMacAddress("02:00:00:00:00:01")`.
 */
import { err, ok, type Result } from "./result.ts";

declare const macAddress: unique symbol;

/** A MAC address of the form "aa:bb:cc:dd:ee:ff". Only parseMacAddress can create one. */
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
