// SPDX-License-Identifier: Apache-2.0
/**
 * parseKubeconfigFields reads the YAML or JSON of a kubeconfig. Its errors name the place and the kind of a mistake in
 * words of this file. The parsers' messages quote the text around a mistake, which can be a token or a key.
 */
import { isMap, LineCounter, parseDocument, visit, type Document, type ErrorCode } from "yaml";
import { KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";

/** Throws KubeError "BadConfig" if `text` is not a YAML mapping, or if its clusters, contexts or users are no lists. */
export function parseKubeconfigFields(path: string, text: string): Readonly<Record<string, unknown>> {
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `at line ${line}, column ${col}`;
  };
  // Warnings and pretty errors would quote the file, warnings on stderr.
  const document = parseDocument(text, { logLevel: "error", prettyErrors: false, lineCounter: lines });
  const [mistake] = document.errors;
  if (mistake !== undefined)
    throw badConfig([path], `the file is not valid YAML ${at(mistake.pos[0])}: ${mistakes[mistake.code]}`);
  const deep = firstTooDeep(document);
  if (deep !== undefined)
    throw badConfig([path], `the file is not a kubeconfig ${at(deep)}: more than ${mostLevels} levels of nesting`);

  const fields = toPlain(path, document);
  if (!isRecord(fields)) throw badConfig([path], "the file is not a kubeconfig: it must be a YAML mapping");
  for (const name of ["clusters", "contexts", "users"]) {
    const value = fields[name] ?? [];
    if (Array.isArray(value)) continue;
    throw badConfig([path], `the file is not a kubeconfig ${at(startOf(document, name))}: ${name} must be a list`);
  }
  return fields;
}

/** Kubeconfigs have fewer than ten. KubeConfig's own parser refuses more than 100 and quotes the file. */
const mostLevels = 50;

/** Returns the offset of the first node that is too deep. */
function firstTooDeep(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Node(_key, { range }, path) {
      // The path has the document, and for each level of a mapping also the pair.
      if (path.filter((parent) => "items" in parent).length <= mostLevels) return undefined;
      offset = range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** Returns the content as JSON, so that no two places share an object. */
function toPlain(path: string, document: Document.Parsed): unknown {
  try {
    return JSON.parse(JSON.stringify(document.toJS() ?? null));
  } catch {
    throw badConfig([path], "the file is not valid YAML: an alias has no anchor, contains itself or is used too often");
  }
}

function startOf({ contents }: Document.Parsed, name: string): number {
  const pair = isMap(contents) ? contents.items.find(({ key }) => String(key) === name) : undefined;
  return pair?.key.range[0] ?? 0;
}

const mistakes: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: "an alias has a tag or an anchor",
  BAD_ALIAS: "an alias or anchor has no valid name",
  BAD_COLLECTION_TYPE: "a tag does not fit to its list or mapping",
  BAD_DIRECTIVE: "a directive (%) is not valid",
  BAD_DQ_ESCAPE: "an escape sequence (\\) in double quotes is not valid",
  BAD_INDENT: "the indentation is wrong",
  BAD_PROP_ORDER: "a tag or an anchor is in the wrong place",
  BAD_SCALAR_START: "a text without quotes begins with a reserved character",
  BLOCK_AS_IMPLICIT_KEY: "a list or mapping begins in the line of a key",
  BLOCK_IN_FLOW: "an indented list or mapping is within brackets",
  DUPLICATE_KEY: "a key occurs twice",
  IMPOSSIBLE: "the text is not YAML",
  KEY_OVER_1024_CHARS: "a key has more than 1024 characters",
  MISSING_CHAR: "a character is missing, such as a closing quote, a bracket, a comma or a colon",
  MULTILINE_IMPLICIT_KEY: "a key has more than one line",
  MULTIPLE_ANCHORS: "a value has more than one anchor",
  MULTIPLE_DOCS: "the file has more than one document",
  MULTIPLE_TAGS: "a value has more than one tag",
  NON_STRING_KEY: "a key is not a text",
  RESOURCE_EXHAUSTION: "too many levels of nesting",
  TAB_AS_INDENT: "a tab is used as indentation",
  TAG_RESOLVE_FAILED: "a tag (!) is unknown or does not fit to its value",
  UNEXPECTED_TOKEN: "unexpected text",
};

/**
 * badConfig makes errors about kubeconfigs. They name the file and the entry and never quote the file, which has tokens
 * and keys. Messages of YAML and JSON parsers are not used, since they quote the text around a mistake.
 * Pass a `cause` only if its fields have no secret.
 */
export function badConfig(paths: readonly string[], words: string, cause?: unknown): KubeError {
  return new KubeError(`use kubeconfig ${paths.join(":")}`, "BadConfig", { words, cause });
}

/** Returns the message of an error of KubeConfig, its libraries or an exec plugin, without possible secrets. */
export function messageOf(error: unknown): string {
  if (!isRecord(error)) return "unknown error";
  const { name, message, cause } = error;
  if (name === "SyntaxError") return "the output is not JSON"; // the message of a SyntaxError quotes the output
  const reason = isRecord(cause) && typeof cause["code"] === "string" ? ` (${cause["code"]})` : "";
  return `${hideSecrets(String(message).trim()).slice(0, longestMessage)}${reason}`;
}

const longestMessage = 500;

/** Replaces JSON web tokens and other long base64 texts. Absolute paths look similar but begin with a slash. */
function hideSecrets(text: string): string {
  return text.replace(/eyJ[\w.-]+/g, "…").replace(/(?<![\w+/=.-])[\w+=-][\w+/=-]{39,}/g, "…");
}
