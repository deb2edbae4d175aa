// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the usage lines of a source file: the code between backticks after the word that announces them in the header
 * comment. Also finds the TypeScript examples of a README.
 */

/** A piece of code in a comment or a document. */
export interface Snippet {
  /** Counted from 1. */
  readonly line: number;
  readonly code: string;
  /** Whether it is a command line such as `npm run demo`. */
  readonly isCommand: boolean;
}

const commandStart = /^(?:[A-Z_]+=\S+ |(?:npm|npx|node|bash|sudo|switchyard|kubectl|eve-bridge)(?: |$))/;

/** What stands before the value of an expression: `parse("2")` is `{ ok: true, value: 2 }`. */
const valueFollows = /\b(?:is|are|gives|yields|returns|becomes|makes|as|like|for|without)\s+$/;

/** The snippets of the header comment of `text`, the source of a file; none if it has no usage line. */
export function usageSnippets(text: string): readonly Snippet[] {
  const header = /^(?:#!.*\n)?(?:\/\/.*\n)*\s*\/\*\*[\s\S]*?\*\//.exec(text)?.[0];
  const at = header?.search(/\bUsage:/) ?? -1;
  if (header === undefined || at < 0) return [];
  // Blanking keeps offsets, so that lines can be counted in the original text.
  const usage = header.replace(/\*\/$/, "  ").replaceAll(/^ \* ?/gm, (start) => " ".repeat(start.length));
  return [...usage.matchAll(/`([^`]+)`/g)]
    .filter(({ index }) => index > at && !valueFollows.test(usage.slice(at, index)))
    .map(({ index, 1: raw = "" }) => {
      const code = raw.replaceAll(/\s*\n\s*/g, " ").trim();
      return { line: lineAt(text, index), code, isCommand: commandStart.test(code) };
    });
}

/** The fenced `ts` blocks of a document. */
export function readmeSnippets(text: string): readonly Snippet[] {
  return [...text.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)].map(({ index, 1: code = "" }) => ({
    line: lineAt(text, index) + 1,
    code,
    isCommand: false,
  }));
}

/**
 * `code` with each ellipsis replaced by an expression, so that it parses: `f(a, …)` passes anything more, `{ a, … }` has
 * any more members, `if (a) …` does anything.
 */
export function fillEllipses(code: string): string {
  let filled = "";
  const open: ("object" | "list" | "condition" | "block")[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|…|\.\.\.(?![\w([{])|[\s\S]/g;
  for (const { 0: token, index } of code.matchAll(tokens)) {
    const before = filled.trimEnd();
    if (token === "{") open.push(/(?:[;)]|=>|\belse|\btry|\bdo|^)$/.test(before) ? "block" : "object");
    if (token === "[") open.push("list");
    if (token === "(") open.push(/\b(?:if|while|switch|for|await)$/.test(before) ? "condition" : "list");
    if (token === "}" || token === "]" || token === ")") open.pop();
    if (token !== "…" && token !== "...") {
      filled += token;
      continue;
    }
    const scope = open.at(-1);
    const isElement = (scope === "object" && /[{,]$/.test(before)) || (scope === "list" && /[([,]$/.test(before));
    const isStatement =
      (scope === undefined || scope === "block") && /^\s*[\w{]/.test(code.slice(index + token.length));
    const isLoopVariable = scope === "condition" && /^\s*of\b/.test(code.slice(index + token.length));
    if (isLoopVariable) filled += "const __each";
    else filled += isElement ? "...__rest" : isStatement ? "__rest;" : "__rest";
  }
  return filled;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
