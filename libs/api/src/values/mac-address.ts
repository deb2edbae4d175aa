// SPDX-License-Identifier: Apache-2.0
/**
 * Ethernet MAC addresses as sysfs writes them: six lower-case bytes with colons.
 * Usage: `parseMacAddress("02:00:00:00:00:01")`.
 */
import { err, ok, type Result } from "./result.ts";

declare const macAddress: unique symbol;

/** "aa:bb:cc:dd:ee:ff"; only parseMacAddress makes one. */
export type MacAddress = string & { readonly [macAddress]: true };

/** Why `text` is no MAC address. */
export interface MacAddressProblem {
  readonly code: "malformed";
  readonly text: string;
}

/**
 * Reads six bytes; upper-case digits are lowered. Group and all-zero addresses are MAC addresses too: ask isUnicast.
 */
export function parseMacAddress(text: string): Result<MacAddress, MacAddressProblem> {
  const lower = text.toLowerCase();
  return isMacAddress(lower) ? ok(lower) : err({ code: "malformed", text });
}

/** Whether an interface can have this address: not all zero, group bit clear. */
export function isUnicast(mac: MacAddress): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;
}

function isMacAddress(text: string): text is MacAddress {
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(text);
}
