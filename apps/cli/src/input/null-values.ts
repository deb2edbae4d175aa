// SPDX-License-Identifier: Apache-2.0
/**
 * nullValues finds fields without a value in the text of an object, such as `example.com/rack:` in a nodeSelector. The API
 * server removes them before it validates the object, so nothing in the cluster can report them. In a selector, one
 * requirement less selects more nodes or NICs.
 */
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Document } from "yaml";
import { isJsonObject, type Manifest, type ManifestSource } from "../json.ts";

/** A field whose value is null. */
export interface NullValue {
  /** Path in the object: "spec.nicSelector.pfNames". */
  readonly field: string;
  /** File and line: "policy.yaml:7"; the place of the object if the line is unknown. */
  readonly place: string;
  /** Whether it is a selector or within one: nodeSelector, nicSelector, configDaemonNodeSelector. */
  readonly inSelector: boolean;
}

type Path = readonly (string | number)[];

/** Returns the null values in `spec`, in their order. */
export function nullValues({ object: { spec }, origin, source }: Manifest): readonly NullValue[] {
  const paths = nullPaths(spec, ["spec"]);
  if (paths.length === 0) return [];
  const placeOf = source === undefined ? () => origin : createPlaces(source, origin);
  return paths.map((path) => ({ field: fieldOf(path), place: placeOf(path), inSelector: path.some(isSelector) }));
}

/** Whether the value is null or contains null. */
export function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  return value === null || Object.values(value).some(hasNull);
}

function nullPaths(value: unknown, path: Path): readonly Path[] {
  if (value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => nullPaths(item, [...path, index]));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, member]) => nullPaths(member, [...path, key])) : [];
}

function isSelector(key: string | number): boolean {
  return typeof key === "string" && /selector$/i.test(key);
}

function fieldOf([first = "", ...rest]: Path): string {
  return rest.reduce<string>((path, key) => path + (typeof key === "number" ? `[${key}]` : `.${key}`), `${first}`);
}

/** Parses the text with the positions of its nodes and returns a function that finds the line of a field. */
function createPlaces({ file, text, document, path: own }: ManifestSource, origin: string): (path: Path) => string {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, version: "1.1" });
  const parsed = "empty" in documents ? undefined : documents[document];
  return (path) => {
    const offset = parsed && offsetOf(parsed, [...own, ...path]);
    return offset === undefined ? origin : `${file}:${lineCounter.linePos(offset).line}`;
  };
}

/** The place of the last key or item of the path that is in the text; a merged mapping (`<<`) hides those below it. */
function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  let offset: number | undefined;
  let node: unknown = document.contents;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((one) => isScalar(one.key) && String(one.key.value) === key);
      if (pair === undefined || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === "number") {
      node = node.items[key];
      const range: unknown = isScalar(node) || isMap(node) || isSeq(node) ? node.range?.[0] : undefined;
      if (typeof range === "number") offset = range;
    } else return offset;
  }
  return offset;
}
