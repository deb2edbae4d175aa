// SPDX-License-Identifier: Apache-2.0
/** Manifest is an object of the Kubernetes API in the input, with its place. */
import { isJsonObject, textAt, type JsonObject } from "../json.ts";

export interface Manifest {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty if it has none. */
  readonly name: string;
  /** The namespace in the input; undefined if there is none. */
  readonly namespace: string | undefined;
  /** "cluster/nodes.yaml:12", or the cluster that it was read from. */
  readonly origin: string;
  /** Where its text is; only kept for an object from a file that has null values in `spec`, to find their lines. */
  readonly source?: ManifestSource;
}

/** The place of an object in a text of YAML or JSON. */
export interface ManifestSource {
  readonly file: string;
  readonly text: string;
  /** Index of the document in the text. */
  readonly document: number;
  /** Path of the object in the document, such as ["items", 3]; empty if it is the document. */
  readonly path: readonly (string | number)[];
}

/** Returns undefined if `object` has no apiVersion or kind. */
export function toManifest(object: unknown, origin: string): Manifest | undefined {
  const [apiVersion, kind] = [textAt(object, "apiVersion"), textAt(object, "kind")];
  if (!isJsonObject(object) || !apiVersion || !kind) return undefined;
  const { metadata } = object;
  const [name = "", namespace] = [textAt(metadata, "name"), textAt(metadata, "namespace")];
  return { object, apiVersion, kind, name, namespace, origin };
}

/** "SriovNetworkNodePolicy/ns/name", or "Node/name" for an object without a namespace. */
export function labelOf(object: {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}): string {
  return [object.kind, object.namespace, object.name].filter((part) => part !== undefined && part !== "").join("/");
}
