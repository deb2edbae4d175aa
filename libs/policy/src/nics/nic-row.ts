// SPDX-License-Identifier: Apache-2.0
/**
 * Rows of the ConfigMap "supported-nic-ids": "8086 158b 154c" is vendor, PF and VF (sriov-operator.md J).
 * Usage: `parseNicRow("8086 158b 154c")`.
 */
import type { SupportedNic } from "./supported-nics.ts";

/** Reads a row; undefined where it is none. Ids are four hexadecimal digits, in either case. */
export function parseNicRow(text: string): SupportedNic | undefined {
  const [, vendor, pf, vf] = /^\s*([0-9a-f]{4})\s+([0-9a-f]{4})\s+([0-9a-f]{4})\s*$/.exec(text.toLowerCase()) ?? [];
  return vendor === undefined || pf === undefined || vf === undefined ? undefined : { vendor, pf, vf };
}
