// SPDX-License-Identifier: Apache-2.0
/** Reads the links, the anchors and the tables of a Markdown document, as GitHub shows it. */
import { headingId } from "@switchyard/docs/heading-ids";

/** A link to a file of the workspace. */
export interface Link {
  /** As written, without the anchor; empty for the document itself. */
  readonly path: string;
  /** What follows "#"; empty if nothing does. */
  readonly anchor: string;
  /** From 1. */
  readonly line: number;
}

/** Links and images with a relative target. Code is left out, and so are addresses with a scheme. */
export function linksIn(text: string): readonly Link[] {
  const prose = withoutCode(text);
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .filter(([, target = ""]) => !/^[a-z]+:/.test(target))
    .map((match) => {
      const [path = "", anchor = ""] = (match[1] ?? "").split("#");
      return { path, anchor, line: prose.slice(0, match.index).split("\n").length };
    });
}

/** Ids of `<a id="…">`, and those that GitHub makes of headings: a second heading of the same text has "-1". */
export function anchorsIn(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = withoutFences(text).matchAll(/^#{1,6} +(.+?) *#*$/gm);
  for (const [, heading = ""] of headings) {
    const slug = slugOf(heading);
    let next = slug;
    for (let count = 1; anchors.has(next); count += 1) next = `${slug}-${count}`;
    anchors.add(next);
  }
  for (const [, id = ""] of text.matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
  return anchors;
}

/** A cell of a table. */
export interface TableCell {
  /** As written, without the blanks around it. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** Longer texts are paragraphs: in a column, they become narrow and high, and the row can no longer be compared with others. */
export const longestCell = 160;

/** The cells of all tables, without the lines below their heads. Code is left out. */
export function tableCellsIn(text: string): readonly TableCell[] {
  return withoutFences(text)
    .split("\n")
    .flatMap((row, index) => {
      const cells = /^\s*\|(.*)\|\s*$/.exec(row)?.[1]?.split(/(?<!\\)\|/) ?? [];
      return cells.map((cell) => ({ text: cell.trim(), line: index + 1 }));
    })
    .filter((cell) => !/^:?-+:?$/.test(cell.text));
}

function slugOf(heading: string): string {
  return headingId(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/<[^>]+>/g, ""));
}

function withoutFences(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, (code) => code.replaceAll(/[^\n]/g, " "));
}

function withoutCode(text: string): string {
  return withoutFences(text).replaceAll(/(`+)[^`\n](?:.*?[^`\n])?\1(?!`)/g, (code) => " ".repeat(code.length));
}
