// SPDX-License-Identifier: Apache-2.0
/** parseManifests reads the objects in a text of YAML or JSON, which may have several documents and lists. */
import { isMap, isSeq, LineCounter, parseAllDocuments, type Document } from "yaml";
import { toManifest, type Manifest, type ManifestSource } from "../json.ts";
import { controls, customTags, firstMistake, rangeStart } from "./kubectl-yaml.ts";
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
  const control = controls.exec(text);
  if (control !== null) {
    const line = text.slice(0, control.index).split("\n").length;
    return { manifests: [], problems: [`${file}:${line}: control characters are not allowed in YAML`] };
  }
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
  const documents = parseDocuments(text, lineCounter);
  if (documents === undefined) return { manifests: [], problems: [`${file}: the text has too many levels of nesting`] };
  const problems: string[] = [];
  const documentsRead: ParsedDocument[] = [];
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  for (const [index, document] of ("empty" in documents ? [] : documents).entries()) {
    const errors = document.errors.map(({ pos: [start], code, message }) => {
      return `${at(start)}: ${code === "RESOURCE_EXHAUSTION" ? "too many levels of nesting" : message}`;
    });
    const mistake = errors.length > 0 ? undefined : firstMistake(document, text);
    if (mistake !== undefined) errors.push(`${at(mistake.offset)}: ${mistake.what}`);
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

/** Undefined if the text has so many levels that the parser, which calls itself for each level, runs out of stack. */
function parseDocuments(text: string, lineCounter: LineCounter) {
  try {
    return parseAllDocuments(text, { lineCounter, prettyErrors: false, version: "1.1", customTags });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
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
        const problem = problemOf(manifest.object);
        if (problem !== undefined) {
          problems.push(`${at}: ${problem}`);
          return;
        }
        manifests.push(hasNull(spec) ? { ...manifest, source: { file, text, document, path } } : manifest);
        return;
      }
      for (const [index, item] of items.entries()) add(item, place(index + 1), [...path, "items", index]);
    }
    add(whole, place(0), []);
  }
  return { manifests, problems };
}

/** Objects of Kubernetes have less than forty levels. Functions that call themselves for each level must not run out of stack. */
const maxDepth = 100;

/** What the API server would not accept as JSON; undefined if there is nothing. Works without recursion, level by level. */
function problemOf(object: unknown): string | undefined {
  let level: unknown[] = [object];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxDepth) return `the object has more than ${maxDepth} levels of nesting`;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === "number" && !Number.isFinite(value)) return ".inf and .nan are not values of Kubernetes";
      if (typeof value === "object" && value !== null) for (const member of Object.values(value)) next.push(member);
    }
    level = next;
  }
  return undefined;
}
