// SPDX-License-Identifier: Apache-2.0
/**
 * What kubectl reads otherwise than the YAML parser, or refuses. kubectl's reader is sigs.k8s.io/yaml, with the scalars of
 * go.yaml.in/yaml/v2; `e2e/fuzz/kubectl-yaml.test.ts` compares both.
 */
import { isAlias, isMap, isScalar, isSeq, visit, type Document, type ScalarTag, type Tags } from "yaml";
import { isJsonObject } from "../json.ts";

/** What YAML does not have (1.2.2, 5.1), and kubectl refuses. JSON may have some of them in texts. */
export const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

export interface Mistake {
  readonly offset: number;
  readonly what: string;
}

/** Returns the first place that kubectl refuses, and the parser accepts. */
export function firstMistake(document: Document.Parsed, text: string): Mistake | undefined {
  let found: Mistake | undefined;
  const stopAt = (node: unknown, what: string | undefined) => {
    if (what === undefined) return undefined;
    found = { offset: rangeStart(node), what };
    return visit.BREAK;
  };
  visit(document, {
    // JSON cannot have such keys.
    Pair(_, { key }) {
      const isText = !isMap(key) && !isSeq(key) && !(isScalar(key) && key.value === null);
      if (!isText) return stopAt(key, "a key must be a text, a number or a boolean");
      const end = isScalar(key) && key.type === "PLAIN" ? (key.range?.[1] ?? 0) : 0;
      return stopAt(key, /^:[[{"']$/.test(text.slice(end, end + 2)) ? "a blank is missing after the colon" : undefined);
    },
    Node(_, node, path) {
      const { tag = "", anchor = "a" } = isAlias(node) ? {} : node;
      if (!/^[\w-]+$/.test(anchor)) return stopAt(node, "an anchor must have letters, digits, - and _ only");
      const name = tag.replace(yamlTag, "!!");
      if ((name !== tag && !knownTags.includes(tag)) || noTag.test(tag))
        return stopAt(node, `the tag ${name} is unknown`);
      if (!isScalar(node)) return undefined;
      const quoted = node.type === "QUOTE_DOUBLE" ? text.slice(...(node.range ?? [0, 0]).slice(0, 2)) : "";
      const hasSurrogate = (quoted.match(escape) ?? []).some((each) => each.length > 2);
      if (hasSurrogate)
        return stopAt(node, "half of a character, as \\ud83d, is not allowed in YAML: write the character");
      // The parser only warns of a text that does not fit to its tag.
      const isOther = typeof node.value === "string" || (tag === intTag && noOctal.test(node.source ?? ""));
      if (noTextTags.includes(tag) && isOther) return stopAt(node, `the text is no value of ${name}`);
      const isInFlow = path.some((parent) => "flow" in parent && parent.flow);
      const needsQuotes = isInFlow && node.type === "PLAIN" && /\?|^:/.test(node.source ?? "");
      return stopAt(
        node,
        needsQuotes
          ? "a text with a question mark, or that begins with a colon, needs quotes between brackets"
          : undefined,
      );
    },
  });
  return found;
}

/** Offset of a node in the text; 0 for what is no node. */
export function rangeStart(node: unknown): number {
  const range = isJsonObject(node) ? node["range"] : undefined;
  const start: unknown = Array.isArray(range) ? range[0] : undefined;
  return typeof start === "number" ? start : 0;
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

/** A character that no tag has. */
const noTag = /[^\w;/?:@&=+$,.!~*'()[\]%-]/;

/** Each escape sequence of a text in double quotes; those of surrogates with more than two characters. */
const escape = /\\(?:u[dD][89a-fA-F]|[^])/g;

const intTag = `${yamlTag}int`;

/** A float for Go, because the octal number is invalid. */
const noOctal = /^[-+]?0[\d_]*[89]/;

/** Tags that kubectl knows; another one after "!!" is mostly a mistake, for which kubectl has several answers. */
const knownTags = ["str", "map", "seq", "merge", "timestamp", "binary", "omap", "pairs", "set"]
  .map((name) => `${yamlTag}${name}`)
  .concat(noTextTags);

/** Go takes away all underscores of a text that begins with a digit or a sign, and then looks whether it is a number: +_1, 1e1_0. */
const goUnderscores: ScalarTag = {
  tag: `${yamlTag}float`,
  default: true,
  test: new RegExp(
    String.raw`^(?=[^_]*_)(?:[-+]_*|(?=\d))` +
      String.raw`(?:0_*[xX][\da-fA-F_]+|0_*[oO][0-7_]+|0_*[bB][01_]+|` +
      String.raw`(?:\d[\d_]*(?:\.[\d_]*)?|\._*\d[\d_]*)(?:[eE]_*(?:[-+]_*)?\d[\d_]*)?)$`,
  ),
  resolve(text) {
    const digits = text.replaceAll("_", "").replace(/^[-+]/, "");
    const value = Number(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
    return text.startsWith("-") ? -value : value;
  },
};

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
export function customTags(tags: Tags): Tags {
  const known = tags.filter(
    (tag) => typeof tag === "string" || (tag.format !== "TIME" && !withoutTag.includes(tag.tag)),
  );
  return [goInteger, goUnderscores, dotText, ...known, explicitFloat, binaryText];
}
