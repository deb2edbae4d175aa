// SPDX-License-Identifier: Apache-2.0
/** parseManifests reads the objects in a text of YAML or JSON, which may have several documents and lists. */
import { LineCounter, parseAllDocuments, isMap, isSeq, type Document, type Tags } from "yaml";
import { isJsonObject, toManifest, type Manifest, type ManifestSource } from "../json.ts";
import { hasNull } from "./null-values.ts";
import { parsePlainYaml, plainLines } from "./parse-plain-yaml.ts";

export interface Parsed {
  readonly manifests: readonly Manifest[];
  /** One line each, such as "cluster/nodes.yaml:12:3: …". Objects in other documents are still in `manifests`. */
  readonly problems: readonly string[];
}

export function parseManifests(text: string, file: string): Parsed {
  const data = parseJson(text);
  const source = { file, text };
  if (data !== undefined) return collect([{ data, index: 0, lines: [] }], source, () => 1);
  const plain = parsePlainYaml(text);
  if (plain === undefined) return parseYaml(text, file);
  return collect([{ data: plain, index: 0, lines: plainLines(text) }], source, (line) => line);
}

/** JSON is also YAML, but JSON.parse is a hundred times faster. Returns undefined for invalid JSON; YAML's parser finds the error. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(text: string, file: string): Parsed {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, version: "1.1", customTags });
  const problems: string[] = [];
  const documentsRead: ParsedDocument[] = [];
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  for (const [index, document] of ("empty" in documents ? [] : documents).entries()) {
    const errors = document.errors.map(({ pos: [start], message }) => `${at(start)}: ${message}`);
    problems.push(...errors);
    if (errors.length > 0) continue;
    try {
      const data: unknown = document.toJS();
      documentsRead.push({ data, index, lines: startsOf(document) });
    } catch (cause) {
      // Too many aliases, or an alias without its anchor.
      const why = cause instanceof Error ? cause.message : String(cause);
      problems.push(`${at(document.range[0])}: ${why}`);
    }
  }
  const parsed = collect(documentsRead, { file, text }, (offset) => lineCounter.linePos(offset).line);
  return { manifests: parsed.manifests, problems: [...problems, ...parsed.problems] };
}

/**
 * YAML 1.1 as kubectl reads it: "on" and "yes" are booleans, but 12:30 is not a number of seconds and 2024-01-01 is not a
 * timestamp.
 */
function customTags(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || (tag.format !== "TIME" && !tag.tag.endsWith(":timestamp")));
}

/** The data of a document, its index in the text, and the places of the document and of the items of a list: offsets or lines. */
interface ParsedDocument {
  readonly data: unknown;
  readonly index: number;
  readonly lines: readonly number[];
}

function startsOf(document: Document.Parsed): readonly number[] {
  const { contents } = document;
  const items: unknown = isMap(contents) ? contents.get("items", true) : undefined;
  const nodes: readonly unknown[] = isSeq(items) ? items.items : [];
  return [contents, ...nodes].map((node) => rangeStart(node));
}

function rangeStart(node: unknown): number {
  const range = isJsonObject(node) ? node["range"] : undefined;
  const start: unknown = Array.isArray(range) ? range[0] : undefined;
  return typeof start === "number" ? start : 0;
}

type Path = ManifestSource["path"];

function collect(
  documents: readonly ParsedDocument[],
  { file, text }: Pick<ManifestSource, "file" | "text">,
  lineOf: (offset: number) => number,
): Parsed {
  const manifests: Manifest[] = [];
  const problems: string[] = [];

  for (const { data: whole, index: document, lines } of documents) {
    const place = (index: number): string => `${file}:${lineOf(lines[index] ?? lines[0] ?? 0)}`;

    function add(data: unknown, at: string, path: Path): void {
      if (data === null || data === undefined) return; // an empty document
      const manifest = toManifest(data, at);
      if (manifest === undefined) {
        problems.push(`${at}: not a Kubernetes object: apiVersion and kind are required`);
        return;
      }
      const { items, spec } = manifest.object;
      if (!manifest.kind.endsWith("List") || !Array.isArray(items)) {
        manifests.push(hasNull(spec) ? { ...manifest, source: { file, text, document, path } } : manifest);
        return;
      }
      for (const [index, item] of items.entries()) add(item, place(index + 1), [...path, "items", index]);
    }
    add(whole, place(0), []);
  }
  return { manifests, problems };
}
