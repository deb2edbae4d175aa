// SPDX-License-Identifier: Apache-2.0
/**
 * readNicRows reads the ConfigMap "supported-nic-ids", with which a cluster adds NICs to the list of supported NICs.
 * Usage: `const { rows, problems } = readNicRows(manifest)`.
 */
import { parseNicRow, type SupportedNic } from "@switchyard/policy";
import { labelOf, type Manifest } from "../input/manifest.ts";
import { isJsonObject } from "../json.ts";

/** Invalid rows are left out and described in `problems`. */
export function readNicRows(manifest: Manifest): {
  readonly rows: readonly SupportedNic[];
  readonly problems: readonly string[];
} {
  const { data } = manifest.object;
  const rows: SupportedNic[] = [];
  const problems: string[] = [];
  for (const [key, text] of Object.entries(isJsonObject(data) ? data : {})) {
    const row = typeof text === "string" ? parseNicRow(text) : undefined;
    if (row !== undefined) rows.push(row);
    else
      problems.push(
        `${labelOf(manifest)}: data.${key}: must be three PCI IDs (vendor, PF, VF), such as "8086 158b 154c"`,
      );
  }
  return { rows, problems };
}
