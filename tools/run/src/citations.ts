// SPDX-License-Identifier: Apache-2.0
/**
 * Finds citations of the pages in docs/upstream, such as `cnis.md 3.1, 3.5`, and ids that stand without a page.
 * docs/upstream/README.md describes the form.
 */

/** One id that a text cites. */
export interface Citation {
  /** File name in docs/upstream. */
  readonly page: string;
  /** The anchor that has to be on the page; empty if no id follows the file name. */
  readonly anchor: string;
  /** From 1. */
  readonly line: number;
}

/** How ids look on each page. Step and item follow the id of a section of sriov-operator.md: `F.6 D`, `E.2, 5`. */
const pages: Readonly<Record<string, string>> = {
  "sriov-operator.md": String.raw`M-\d+|[A-M]\.\d+(?: [A-E]\b)?|[A-M]\b(?![-.\w'’]\w)|\d+\b`,
  "cnis.md": String.raw`\d+(?:\.\d+)?`,
  "eve-and-afxdp.md": String.raw`[ab]\d+|c\b`,
  "smartnic.md": String.raw`\d+(?:\.\d+)?`,
};

/** Every cited id of `text`, ranges as their two ends. A file name without an id yields an empty anchor. */
export function citationsIn(text: string): readonly Citation[] {
  return parse(text).cited;
}

/** Ids that look like those of sriov-operator.md and follow no file name. */
export function bareIdsIn(text: string): readonly { readonly id: string; readonly line: number }[] {
  const { rest } = parse(text);
  const ids = rest.matchAll(/(?<![-.\w/#])(?:M-\d+|[A-M]\.\d+)(?![-.\w])/g);
  return [...ids].map((match) => ({ id: match[0], line: lineAt(rest, match.index) }));
}

/** The citations of a text, and the text with blanks in place of them: lines stay what they are. */
function parse(text: string): { readonly cited: readonly Citation[]; readonly rest: string } {
  const cited = new Array<Citation>();
  let rest = withoutCommentMarks(text);
  for (const [page, id] of Object.entries(pages)) {
    const name = page.replace(".", String.raw`\.`);
    const list = String.raw`(?:${id})(?:(?:,\s+|;\s+|\s+and\s+|-)(?:${id}))*`;
    const pattern = new RegExp(String.raw`(?<![\w-])(${name})(?:\s+(${list}))?`, "g");
    rest = rest.replaceAll(pattern, (whole: string, _page: string, ids: string | undefined, offset: number) => {
      for (const anchor of anchors(ids ?? "")) cited.push({ page, anchor, line: lineAt(rest, offset) });
      return whole.replaceAll(/\S/g, " ");
    });
  }
  return { cited, rest };
}

/** "F.6 D, M-3" is F.6-D and M-3; "E.2, 5" is E.2 and E.2-5. */
function anchors(ids: string): readonly string[] {
  let section = "";
  return ids.split(/,\s+|;\s+|\s+and\s+|(?<!M)-/).map((id) => {
    if (/^[A-M]\./.test(id)) section = id;
    return /^\d+$/.test(id) && section !== "" ? `${section}-${id}` : id.replace(/\s+/, "-");
  });
}

/** A list of ids may go on in the next line of a comment. */
function withoutCommentMarks(text: string): string {
  return text.replaceAll(/^[ \t]*(?:\/?\*+\/?|\/\/|#)/gm, (mark) => " ".repeat(mark.length));
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
