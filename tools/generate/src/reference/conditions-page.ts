// SPDX-License-Identifier: Apache-2.0
/** The page of condition types and reasons, from condition-types.ts of libs/api, with the files that set each. */
import ts from "typescript";
import { code, fileLink, table } from "../markdown.ts";
import { descend, docOf, literalText, type Source } from "./sources.ts";

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
  readonly doc: string;
  /** Files that use it, without the ones of libs/api. */
  readonly files: readonly string[];
}

/** Name of the file in libs/api that defines them all. */
const definitionsName = "condition-types.ts";

export function conditionsPage(sources: readonly Source[]): string {
  const sections = reasonTables(sources).flatMap(({ name, doc, entries }) => {
    const isTypes = name === "conditionTypes";
    const rows = entries.map(({ value, doc: meaning, files }) => [
      code(value),
      meaning,
      files.map(fileLink).join("<br>"),
    ]);
    return [
      `## ${isTypes ? "Types" : titleOf(name)}`,
      ...(doc === "" ? [] : [doc]),
      table([isTypes ? "Type" : "Reason", "Meaning", "Used in"], rows),
    ];
  });
  return [
    "# Conditions",
    "Types of the conditions in `status.conditions`, and the reasons that they have. All are defined in " +
      `${fileLink(definitionsOf(sources)?.path ?? definitionsName)}.`,
    ...sections,
  ].join("\n\n");
}

/** All tables, in the order of the file. */
export function reasonTables(sources: readonly Source[]): readonly ReasonTable[] {
  const source = definitionsOf(sources);
  const uses = usesOf(sources.filter(({ path }) => !path.startsWith("libs/api/")));
  const tables: ReasonTable[] = [];
  for (const statement of source?.tree.statements ?? []) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      const object = initializer && ts.isAsExpression(initializer) ? initializer.expression : initializer;
      if (object === undefined || !ts.isObjectLiteralExpression(object)) continue;
      const entries = object.properties.filter(ts.isPropertyAssignment).map((it) => ({
        key: it.name.getText(),
        value: literalText(it.initializer) ?? "",
        doc: docOf(it),
        files: uses.get(`${name.getText()}.${it.name.getText()}`) ?? [],
      }));
      tables.push({ name: name.getText(), doc: docOf(statement), entries });
    }
  }
  return tables;
}

function definitionsOf(sources: readonly Source[]): Source | undefined {
  return sources.find(({ path }) => path.startsWith("libs/api/") && path.endsWith(`/${definitionsName}`));
}

/** "drainReasons.onlyNode" to the files that use it; also those that name the table by another name or take it apart. */
function usesOf(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const uses = new Map<string, string[]>();
  const add = (key: string, path: string) => {
    const files = uses.get(key) ?? [];
    if (!files.includes(path)) uses.set(key, [...files, path]);
  };
  for (const { path, tree } of sources) {
    const tables = new Map<string, string>();
    descend(tree, (node) => {
      if (ts.isImportSpecifier(node)) tables.set(node.name.text, (node.propertyName ?? node.name).text);
    });
    descend(tree, (node) => {
      if (ts.isPropertyAccessExpression(node)) {
        const table = tables.get(node.expression.getText());
        if (table !== undefined) add(`${table}.${node.name.text}`, path);
      }
      const isPattern = ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name);
      const table = isPattern ? tables.get(node.initializer?.getText() ?? "") : undefined;
      if (table === undefined || !isPattern || !ts.isObjectBindingPattern(node.name)) return;
      for (const element of node.name.elements) {
        add(`${table}.${(element.propertyName ?? element.name).getText()}`, path);
      }
    });
  }
  return uses;
}

/** "Drain reasons" for "drainReasons". */
function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
