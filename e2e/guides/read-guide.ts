// SPDX-License-Identifier: Apache-2.0
/**
 * readGuide reads the commands of a guide: its shell blocks in their order, each with the output that the guide shows.
 * A block that the test must not run has the comment `<!-- not executed: REASON -->` before it.
 */

/** A shell block. */
export interface Block {
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly script: string;
  /** Why the test does not run it. */
  readonly notExecuted?: string;
  /** The text block that follows it. "..." is a line for any lines; `<name>` in a line is any text. */
  readonly output?: string;
}

/** `section` limits the reading to the part below this heading. Throws if there is no such heading. */
export function readGuide(text: string, section?: string): readonly Block[] {
  const lines = text.split("\n");
  const [from, to] = section === undefined ? [0, lines.length] : linesOf(lines, section);
  const blocks: Block[] = [];
  let notExecuted: string | undefined;
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    const comment = /^\s*<!-- not executed: (.+) -->$/.exec(line)?.[1];
    if (comment !== undefined) notExecuted = comment;
    const [, indent = "", language] = /^(\s*)```(\w+)$/.exec(line) ?? [];
    if (language === undefined) {
      if (line.trim() !== "" && comment === undefined) notExecuted = undefined;
      continue;
    }
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`the block in line ${at + 1} has no end`);
    const content = lines
      .slice(at + 1, end)
      .map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each))
      .join("\n");
    const last = blocks.at(-1);
    if (language === "sh") {
      blocks.push({ line: at + 1, script: content, ...(notExecuted !== undefined && { notExecuted }) });
    } else if (language === "text" && last?.output === undefined && last !== undefined && isNext(lines, last, at)) {
      blocks[blocks.length - 1] = { ...last, output: content };
    }
    notExecuted = undefined;
    at = end;
  }
  return blocks;
}

/** Whether only blank lines are between the block and the line with this index. */
function isNext(lines: readonly string[], { line, script }: Block, index: number): boolean {
  return lines.slice(line + script.split("\n").length + 1, index).every((between) => between.trim() === "");
}

function linesOf(lines: readonly string[], section: string): readonly [number, number] {
  const from = lines.indexOf(`## ${section}`);
  if (from < 0) throw new Error(`no heading "## ${section}"`);
  const length = lines.slice(from + 1).findIndex((line) => line.startsWith("## "));
  return [from, length < 0 ? lines.length : from + 1 + length];
}

/** Returns the first documented line that the output does not have, in the documented order; undefined if it has all. */
export function missingLine(documented: string, output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.trim());
  let next = 0;
  let isGap = false;
  for (const wanted of documented.trim().split("\n")) {
    if (wanted.trim() === "...") {
      isGap = true;
      continue;
    }
    const pattern = patternOf(wanted.trim());
    const found = lines.findIndex((line, index) => index >= next && pattern.test(line));
    if (found < 0 || (!isGap && found !== next)) return wanted;
    next = found + 1;
    isGap = false;
  }
  return undefined;
}

/** Blanks match any number of blanks, because columns depend on the longest name. */
function patternOf(line: string): RegExp {
  const parts = line.split(/(<[\w -]+>|\s+)/).map((part) => {
    if (/^<[\w -]+>$/.test(part)) return ".+";
    return /^\s+$/.test(part) ? String.raw`\s+` : part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("")}$`);
}
