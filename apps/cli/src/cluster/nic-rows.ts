// SPDX-License-Identifier: Apache-2.0
/** The ConfigMap "supported-nic-ids", by which a cluster adds NICs to the list of supported ones. */
import { parseNicRow, type SupportedNic } from "@switchyard/policy";
import { labelOf, type Manifest } from "../input/manifest.ts";
import { isJsonObject } from "../json.ts";

export type NicRow = SupportedNic;

/** Rows that are none are told and left out. */
export function readNicRows(manifest: Manifest): {
  readonly rows: readonly NicRow[];
  readonly problems: readonly string[];
} {
  const { data } = manifest.object;
  const rows: NicRow[] = [];
  const problems: string[] = [];
  for (const [key, text] of Object.entries(isJsonObject(data) ? data : {})) {
    const row = typeof text === "string" ? parseNicRow(text) : undefined;
    if (row !== undefined) rows.push(row);
    else
      problems.push(
        `${labelOf(manifest)}: data.${key}: must be three PCI ids: vendor, PF and VF, as in "8086 158b 154c"`,
      );
  }
  return { rows, problems };
}
