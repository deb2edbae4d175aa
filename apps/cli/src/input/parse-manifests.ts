// SPDX-License-Identifier: Apache-2.0
/** parseManifests reads the objects in a text of YAML or JSON, which may have several documents and lists. */
import {
  LineCounter,
  parseAllDocuments,
  isMap,
  isScalar,
  isSeq,
  visit,
  type Document,
  type ScalarTag,
  type Tags,
} from "yaml";
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
  const control = controls.exec(text);
  if (control !== null) {
    const line = text.slice(0, control.index).split("\n").length;
    return { manifests: [], problems: [`${file}:${line}: control characters are not allowed in YAML`] };
  }
  const plain = parsePlainYaml(text);
  if (plain === undefined) return parseYaml(text, file);
  return collect([{ data: plain, index: 0, lines: plainLines(text) }], source, (line) => line);
}

/** What YAML does not have (1.2.2, 5.1), and kubectl refuses. JSON may have some of them in texts. */
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

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
    const mistake = errors.length > 0 ? undefined : firstNoJson(document);
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

/**
 * The first place that kubectl refuses: a key that is a list, a map or null, which JSON cannot have, or a text with the tag of another
 * type, such as `!!int a`.
 */
function firstNoJson(document: Document.Parsed): { readonly offset: number; readonly what: string } | undefined {
  let found: { readonly offset: number; readonly what: string } | undefined;
  visit(document, {
    Pair(_, { key }) {
      if (!isMap(key) && !isSeq(key) && !(isScalar(key) && key.value === null)) return undefined;
      found = { offset: rangeStart(key), what: "a key must be a text, a number or a boolean" };
      return visit.BREAK;
    },
    Scalar(_, node) {
      if (node.tag === undefined || !noTextTags.includes(node.tag) || typeof node.value !== "string") return undefined;
      found = { offset: rangeStart(node), what: `the text is no value of ${node.tag.replace(yamlTag, "!!")}` };
      return visit.BREAK;
    },
  });
  return found;
}

const yamlTag = "tag:yaml.org,2002:";

/** Numbers with the prefixes of Go (strconv.ParseInt with base 0) that YAML 1.1 does not have: 0o10, 0X8, 0B11. */
const goInteger: ScalarTag = {
  tag: `${yamlTag}int`,
  default: true,
  test: /^[-+]?0(?:[oO][0-7_]+|X[0-9a-fA-F_]+|B[01_]+)$/,
  resolve(text) {
    const digits = text.replaceAll("_", "");
    const value = Number(digits.replace(/^[-+]/, ""));
    return digits.startsWith("-") ? -value : value;
  },
};

const noTextTags = ["int", "float", "bool", "null"].map((name) => `${yamlTag}${name}`);

/** A text for Go, where an underscore of a number that begins with a dot is between digits: ._1 and .5_. */
const dotText: ScalarTag = {
  tag: `${yamlTag}str`,
  default: true,
  test: /^\.[\d_]*(?:(?<!\d)_|_(?!\d))/,
  resolve: (text) => text,
};

/** `!!float 1` is a number, too. */
const explicitFloat: ScalarTag = {
  tag: `${yamlTag}float`,
  resolve: (text) => Number(text.replaceAll("_", "")),
};

/** kubectl makes a text of the bytes. */
const binaryText: ScalarTag = {
  tag: `${yamlTag}binary`,
  resolve(text, onError) {
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text.replaceAll(/[\r\n ]/g, "")) onError("the text is no base64");
    return bytes.toString("utf8");
  },
};

/** Their values are what they are without the tag, in kubectl; and a timestamp is a text. */
const withoutTag = ["timestamp", "binary", "omap", "pairs", "set"].map((name) => `${yamlTag}${name}`);

/**
 * YAML 1.1 as kubectl reads it: "on" and "yes" are booleans, but 12:30 is not a number of seconds and 2024-01-01 is not a
 * timestamp.
 */
function customTags(tags: Tags): Tags {
  const known = tags.filter(
    (tag) => typeof tag === "string" || (tag.format !== "TIME" && !withoutTag.includes(tag.tag)),
  );
  return [goInteger, dotText, ...known, explicitFloat, binaryText];
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
