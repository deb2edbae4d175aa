// SPDX-License-Identifier: Apache-2.0
/** toNode reads the name, labels and taints of a Node in the input. */
import type { Node, Taint } from "@switchyard/api";
import { parseNicRow, type SupportedNic } from "@switchyard/policy";
import { isJsonObject, labelOf, textAt, type JsonObject, type Manifest } from "../json.ts";

/** Returns undefined if the name is missing or a label is not a string. */
export function toNode({ name, object: { metadata, spec } }: Manifest): Node | undefined {
  const labels = isJsonObject(metadata) ? (metadata["labels"] ?? {}) : {};
  if (name === "" || !isStringMap(labels)) return undefined;
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, ...(isJsonObject(spec) && specOf(spec)) };
}

function specOf({ unschedulable, taints }: JsonObject): Pick<Node, "spec"> {
  const read = Array.isArray(taints) ? taints.flatMap((taint) => toTaint(taint) ?? []) : [];
  const spec = { ...(unschedulable === true && { unschedulable }), ...(read.length > 0 && { taints: read }) };
  return Object.keys(spec).length === 0 ? {} : { spec };
}

function toTaint(taint: unknown): Taint | undefined {
  const [key, value, effect] = ["key", "value", "effect"].map((field) => textAt(taint, field));
  if (key === undefined || (effect !== "NoSchedule" && effect !== "PreferNoSchedule" && effect !== "NoExecute")) {
    return undefined;
  }
  return { key, effect, ...(value !== undefined && { value }) };
}

function isStringMap(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === "string");
}

/**
 * readNicRows reads the ConfigMap "supported-nic-ids", with which a cluster adds NICs to the list of supported NICs.
 * Invalid rows are left out and described in `problems`.
 */
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
