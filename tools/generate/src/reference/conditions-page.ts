// SPDX-License-Identifier: Apache-2.0
/** The page of condition types and reasons, from condition-types.ts of libs/api: when each is set, and what to do about it. */
import ts from "typescript";
import { GenerateError } from "../generate-error.ts";
import { code, table } from "../markdown.ts";
import { docOf, literalText, tagOf, type Source } from "./sources.ts";

/** An exported table of types or reasons, such as `drainReasons`. */
export interface ReasonTable {
  readonly name: string;
  readonly doc: string;
  readonly entries: readonly ReasonEntry[];
}

export interface ReasonEntry {
  /** Name in code: "waitingForSlot". */
  readonly key: string;
  /** What objects have: "WaitingForSlot". */
  readonly value: string;
  /** When it is set. */
  readonly doc: string;
  /** What an administrator does about it, from `@remedy`; empty for types, which have reasons. */
  readonly remedy: string;
}

/** The table of condition types, whose entries have no remedy. */
export const typesTable = "conditionTypes";

/** Most characters of a text in a table. */
const longestText = 160;

export function conditionsPage(sources: readonly Source[]): string {
  const sections = reasonTables(sources).flatMap(({ name, doc, entries }) => {
    const about = doc === "" ? [] : [doc];
    if (name === typesTable) {
      const rows = entries.map(({ value, doc: meaning }) => [code(value), meaning]);
      return ["## Types", ...about, table(["Type", "Meaning"], rows)];
    }
    const rows = entries.map(({ value, doc: when, remedy }) => [code(value), when, remedy]);
    return [`## ${titleOf(name)}`, ...about, table(["Reason", "When", "What to do"], rows)];
  });
  return [
    "# Conditions",
    "Types of the conditions in `status.conditions`, and the reasons that they have. `kubectl describe` shows them with " +
      "their messages, and `switchyard explain NAME` prints the same texts as this page, with the next command. `switchyard doctor` " +
      "prints that command for the object.",
    ...sections,
  ].join("\n\n");
}

/** All tables, in the order of the file. Throws if a text is missing or too long. */
export function reasonTables(sources: readonly Source[]): readonly ReasonTable[] {
  return documentedTables(sources, "condition-types.ts");
}

/**
 * Reads the tables of names in a file of libs/api: objects whose members have comments. Throws GenerateError if a member has no
 * comment or, except in `typesTable`, no `@remedy`, or if one of them is too long for a table.
 */
export function documentedTables(sources: readonly Source[], fileName: string): readonly ReasonTable[] {
  const tables: ReasonTable[] = [];
  const source = sources.find(({ path }) => path.startsWith("libs/api/") && path.endsWith(`/${fileName}`));
  for (const statement of source?.tree.statements ?? []) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      const object = initializer && ts.isAsExpression(initializer) ? initializer.expression : initializer;
      if (object === undefined || !ts.isObjectLiteralExpression(object)) continue;
      const entries = object.properties.filter(ts.isPropertyAssignment).map((it) => {
        const at = `${source?.path ?? fileName}: ${name.getText()}.${it.name.getText()}`;
        const doc = textFor(at, "comment that says when it is set", docOf(it));
        const isType = name.getText() === typesTable;
        const remedy = isType ? "" : textFor(at, "@remedy that says what to do", tagOf(it, "remedy"));
        return { key: it.name.getText(), value: literalText(it.initializer) ?? "", doc, remedy };
      });
      tables.push({ name: name.getText(), doc: docOf(statement), entries });
    }
  }
  return tables;
}

function textFor(at: string, what: string, text: string): string {
  if (text === "") throw new GenerateError("NO_TEXT", at, `has no ${what}`);
  if (text.length <= longestText) return text;
  throw new GenerateError(
    "NO_TEXT",
    at,
    `has a text of ${text.length} characters; at most ${longestText} fit in a table`,
  );
}

/** "Drain reasons" for "drainReasons". */
function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
