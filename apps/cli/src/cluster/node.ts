// SPDX-License-Identifier: Apache-2.0
/** A Node of the input, reduced to what decides: its name and labels. */
import type { Node } from "@switchyard/api";
import type { Manifest } from "../input/manifest.ts";
import { isJsonObject } from "../json.ts";

/** Undefined where it has no name, or labels that are no texts. */
export function toNode({ name, object: { metadata } }: Manifest): Node | undefined {
  const labels = isJsonObject(metadata) ? (metadata["labels"] ?? {}) : {};
  if (name === "" || !isTextMap(labels)) return undefined;
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === "string");
}
