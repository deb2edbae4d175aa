// SPDX-License-Identifier: Apache-2.0
/**
 * Searches the sources for a message as a reader does who has seen it: by its longest part that stands there literally.
 * Usage: `search("drain: 1 pod left: default/web", readSources())`.
 */
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

/** A source: its code without comments, with white space folded, and the words in it. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

/** A message that a page shows. */
export interface ShownMessage {
  readonly page: string;
  readonly message: string;
}

/** What a search finds: the part that was searched for, and the files that have it. */
export interface SearchResult {
  readonly part: string;
  readonly files: readonly string[];
}

/** The sources of what users run, without tests and generated files. */
export function readSources(): readonly SourceText[] {
  return workspaceFiles([".ts"])
    .filter(
      (path) => /^(apps|libs|tools\/demo)\//.test(path) && !/\.(test|gen)\.ts$|\/testing\/|^libs\/testing\//.test(path),
    )
    .map((path) => {
      const code = readWorkspaceFile(path).replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");
      const text = code.replaceAll(/\s+/g, " ");
      return { path, text, words: new Set(text.split(" ")) };
    });
}

/**
 * Returns the result for the longest part, in words, that stands in a source. Of parts of this length, one that stands in
 * one file only is preferred. Without any part of two words, the result has no files.
 */
export function search(message: string, sources: readonly SourceText[]): SearchResult {
  const words = message.split(/\s+/).filter((word) => word !== "");
  for (let length = words.length; length >= 2; length--) {
    const results = partsOf(words, length).flatMap((part): readonly SearchResult[] => {
      const text = part
        .join(" ")
        .replace(/^[("]+/, "")
        .replace(/[:;,.)"…]+$/, "");
      const inner = part.slice(1, -1); // the first and the last word may be joined to a quote or a value
      const files = sources.filter(
        (source) => inner.every((word) => source.words.has(word)) && source.text.includes(text),
      );
      return files.length === 0 ? [] : [{ part: text, files: files.map(({ path }) => path) }];
    });
    const [best] = results.toSorted((a, b) => a.files.length - b.files.length);
    if (best !== undefined) return best;
  }
  return { part: "", files: [] };
}

function partsOf(words: readonly string[], length: number): readonly (readonly string[])[] {
  return Array.from({ length: words.length - length + 1 }, (_, at) => words.slice(at, at + length));
}

/** The messages in the recorded output of `npm run demo`: the texts behind a time and a node, and the warnings and refusals. */
export function demoMessages(): readonly ShownMessage[] {
  const page = "docs/guide/demo.md";
  return readWorkspaceFile(page)
    .split("\n")
    .flatMap((line): readonly ShownMessage[] => {
      const told = /^ +\d+\.\d s {2}\S+ {2,}(.+)$/.exec(line)?.[1];
      const answered = /^ +\| (?:Warning: |\* )(.+)$/.exec(line)?.[1];
      const message = told ?? answered;
      return message === undefined || isState(message) ? [] : [{ page, message }];
    });
}

/** The messages that guides quote: code of at least five words that is neither a command nor data. */
export function guideMessages(): readonly ShownMessage[] {
  return workspaceFiles([".md"])
    .filter((page) => page.startsWith("docs/guide/") && page !== "docs/guide/demo.md")
    .flatMap((page) =>
      [...readWorkspaceFile(page).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)]
        .map(([, message = ""]) => ({ page, message }))
        .filter(({ message }) => message.split(" ").length >= 5 && !isCommand(message)),
    );
}

/** "Succeeded [enp1s0f0 6/7 (5 igbvf)]": a state that the demo prints, without a text of the product. */
function isState(message: string): boolean {
  return /^(InProgress|Succeeded|Failed)? *\[.*\]$/.test(message);
}

function isCommand(text: string): boolean {
  return /^(?:kubectl|npm|npx|switchyard|helm|systemctl|journalctl|devlink|rdma|ethtool|ip|bpftool|#) |[{}<>]|^-/.test(
    text,
  );
}
