// SPDX-License-Identifier: Apache-2.0
/**
 * parseNicRow parses rows of the ConfigMap "supported-nic-ids": "8086 158b 154c" has the IDs of vendor, PF and VF
 * (sriov-operator.md J).
 * Usage: `parseNicRow("8086 158b 154c")`.
 */
import type { SupportedNic } from "./supported-nics.ts";

/** Parses a row; undefined if it is malformed. IDs have four hexadecimal digits, in lower or upper case. */
export function parseNicRow(text: string): SupportedNic | undefined {
  const [, vendor, pf, vf] = /^\s*([0-9a-f]{4})\s+([0-9a-f]{4})\s+([0-9a-f]{4})\s*$/.exec(text.toLowerCase()) ?? [];
  return vendor === undefined || pf === undefined || vf === undefined ? undefined : { vendor, pf, vf };
}
