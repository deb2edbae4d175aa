// SPDX-License-Identifier: Apache-2.0
/** toNode reads the name and labels of a Node in the input. */
import type { Node } from "@switchyard/api";
import type { Manifest } from "../input/manifest.ts";
import { isJsonObject } from "../json.ts";

/** Returns undefined if the name is missing or a label is not a string. */
export function toNode({ name, object: { metadata } }: Manifest): Node | undefined {
  const labels = isJsonObject(metadata) ? (metadata["labels"] ?? {}) : {};
  if (name === "" || !isStringMap(labels)) return undefined;
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

function isStringMap(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === "string");
}
