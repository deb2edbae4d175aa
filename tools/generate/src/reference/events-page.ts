// SPDX-License-Identifier: Apache-2.0
/**
 * The page of events, from the places in the sources that make one: an object with a type, "Normal" or "Warning", and a
 * reason, or a call of normal() or warning().
 */
import ts from "typescript";
import { code, fileLink, table } from "../markdown.ts";
import { descend, literalText, memberOf, type Source } from "./sources.ts";

export interface EventSite {
  /** Undefined where the reason is the one of a condition. */
  readonly reason: string | undefined;
  readonly type: string;
  /** Texts that the note can be; empty where it is the message of a condition or an error. */
  readonly notes: readonly string[];
  readonly path: string;
}

export function eventsPage(sources: readonly Source[]): string {
  const sites = eventSites(sources);
  const rows = sites
    .filter(({ reason }) => reason !== undefined)
    .toSorted((a, b) => (a.reason ?? "").localeCompare(b.reason ?? ""))
    .map(({ reason = "", type, notes, path }) => [code(reason), type, notesText(notes), fileLink(path)]);
  const others = sites.filter(({ reason }) => reason === undefined).map(({ type, path }) => [type, fileLink(path)]);
  return [
    "# Events",
    "`kubectl get events` shows these reasons. `…` in a note stands for a value.",
    table(["Reason", "Type", "Note", "Source"], rows),
    "## Events about conditions",
    "These events have the reason and the message of the condition that changed ([conditions](conditions.md)).",
    table(["Type", "Source"], others),
  ].join("\n\n");
}

/** All places, in the order of the files. */
export function eventSites(sources: readonly Source[]): readonly EventSite[] {
  return sources.filter(({ path }) => path.startsWith("apps/")).flatMap(({ path, tree }) => sitesOf(path, tree));
}

function sitesOf(path: string, tree: ts.SourceFile): readonly EventSite[] {
  const sites: EventSite[] = [];
  const add = (type: string, reason: ts.Expression, note: ts.Expression | undefined) => {
    sites.push({ type, reason: literalText(reason), notes: notesOf(note), path });
  };
  descend(tree, (node) => {
    if (ts.isObjectLiteralExpression(node)) {
      const types = eventTypes(memberOf(node, "type"));
      const reason = memberOf(node, "reason");
      const isHelper = reason !== undefined && ts.isIdentifier(reason) && isParameterOfHelper(node);
      if (types !== undefined && reason !== undefined && !isHelper) {
        add(types, reason, memberOf(node, "note") ?? memberOf(node, "message"));
      }
    }
    if (ts.isCallExpression(node) && ["normal", "warning"].includes(node.expression.getText())) {
      const [reason, note] = node.arguments;
      if (reason !== undefined) add(node.expression.getText() === "normal" ? "Normal" : "Warning", reason, note);
    }
  });
  return sites;
}

/** "Normal", "Warning" or both, for a type that is one of them or depends on a condition. */
function eventTypes(type: ts.Expression | undefined): string | undefined {
  const words = type?.getText().match(/"(?:Normal|Warning)"/g) ?? [];
  return words.length === 0
    ? undefined
    : [...new Set(words)]
        .map((word) => word.slice(1, -1))
        .toSorted()
        .join(", ");
}

/** Whether an object is what normal() or warning() returns. */
function isParameterOfHelper(node: ts.Node): boolean {
  const helper = ts.findAncestor(node, ts.isFunctionDeclaration);
  return ["normal", "warning"].includes(helper?.name?.text ?? "");
}

/** The texts of an expression: of a variable, those of its initial value. */
function notesOf(note: ts.Expression | undefined): readonly string[] {
  if (note === undefined) return [];
  const text = literalText(note);
  if (text !== undefined) return [text];
  if (ts.isConditionalExpression(note)) return [...notesOf(note.whenTrue), ...notesOf(note.whenFalse)];
  if (!ts.isIdentifier(note)) return [];
  const initializers: ts.Expression[] = [];
  const scope = ts.findAncestor(note, (it) => ts.isFunctionLike(it) || ts.isSourceFile(it));
  if (scope !== undefined) {
    descend(scope, (node) => {
      if (ts.isVariableDeclaration(node) && node.name.getText() === note.text && node.initializer) {
        initializers.push(node.initializer);
      }
    });
  }
  return initializers.filter((it) => it !== note).flatMap((it) => (ts.isIdentifier(it) ? [] : notesOf(it)));
}

function notesText(notes: readonly string[]): string {
  return notes.length === 0 ? "The message of the condition, or the error." : notes.join("<br>");
}
