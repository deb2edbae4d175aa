// SPDX-License-Identifier: Apache-2.0
/** The page of errors: the error class of each project with its codes, and exit codes. */
import ts from "typescript";
import { code, fileLink, table } from "../markdown.ts";
import { docOf, literalText, type Source } from "./sources.ts";

export interface ErrorCode {
  readonly code: string;
  readonly doc: string;
}

export interface ErrorClass {
  readonly name: string;
  readonly doc: string;
  readonly path: string;
  /** What the source says of its codes as a whole. */
  readonly codeDoc: string;
  readonly codes: readonly ErrorCode[];
}

export function errorsPage(sources: readonly Source[]): string {
  const sections = errorClasses(sources).flatMap(({ name, doc, path, codeDoc, codes }) => [
    `### ${name}`,
    doc,
    `Defined in ${fileLink(path)}.`,
    codeDoc === "" ? "" : `\`code\`: ${codeDoc}`,
    codes.length === 0 ? "" : codeTable("Code", codes),
  ]);
  const tables = codeTables(sources).flatMap(({ name, doc, path, codes }) => [
    `### ${name}`,
    doc,
    `Defined in ${fileLink(path)}.`,
    codeTable("Code", codes),
  ]);
  return [
    "# Errors",
    "Programs decide by the `code` of an error, never by its message.",
    "## Error classes",
    ...sections,
    "## Exit codes and codes of protocols",
    ...tables,
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** All classes that extend Error, in the order of the files. */
export function errorClasses(sources: readonly Source[]): readonly ErrorClass[] {
  return sources.flatMap(({ path, tree }) => {
    const unions = new Map<string, { readonly doc: string; readonly codes: readonly ErrorCode[] }>();
    for (const it of tree.statements) {
      if (ts.isTypeAliasDeclaration(it)) unions.set(it.name.text, { doc: docOf(it), codes: codesOfUnion(it.type) });
    }
    return tree.statements.filter(ts.isClassDeclaration).flatMap((it) => {
      const base =
        it.heritageClauses?.flatMap(({ types }) => types.map(({ expression }) => expression.getText())) ?? [];
      if (!base.includes("Error") || it.name === undefined) return [];
      const field = it.members.filter(ts.isPropertyDeclaration).find(({ name }) => name.getText() === "code");
      const mentioned = [...unions].filter(([name]) => new RegExp(`\\b${name}\\b`).test(it.getText()));
      const own = field?.type === undefined ? [] : codesOfUnion(field.type);
      const codes = [...own, ...mentioned.flatMap(([, union]) => union.codes)];
      // Of a union whose members have comments, the comment says no more than they do.
      const unionDocs = mentioned
        .filter(([, union]) => union.codes.some(({ doc }) => doc === ""))
        .map(([, { doc }]) => doc);
      const codeDoc = [field === undefined ? "" : docOf(field), ...unionDocs].filter((doc) => doc !== "").join(" ");
      return [{ name: it.name.text, doc: docOf(it), path, codeDoc, codes }];
    });
  });
}

/** The string literals of a union, each with the comment before it. */
function codesOfUnion(type: ts.TypeNode): readonly ErrorCode[] {
  const members = ts.isUnionTypeNode(type) ? type.types : [type];
  return members.flatMap((member) => {
    if (!ts.isLiteralTypeNode(member)) return [];
    const text = literalText(member.literal);
    return text === undefined ? [] : [{ code: text, doc: members.length === 1 ? "" : commentBefore(member) }];
  });
}

/** The JSDoc before a member of a union; it stands before or behind the bar, which belongs to no member. */
function commentBefore(node: ts.Node): string {
  const before = node
    .getSourceFile()
    .text.slice(0, node.getStart())
    .replace(/\|\s*$/, "")
    .trimEnd();
  const start = before.lastIndexOf("/**");
  if (!before.endsWith("*/") || start < 0) return "";
  const comment = before.slice(start + 3, -2).replaceAll(/^\s*\*/gm, "");
  return comment.replaceAll(/\s+/g, " ").trim();
}

interface CodeTable {
  readonly name: string;
  readonly doc: string;
  readonly path: string;
  readonly codes: readonly ErrorCode[];
}

/** Constants that are named after codes and hold numbers: `exitCodes`, `cniCode`, `exitUsage`. */
function codeTables(sources: readonly Source[]): readonly CodeTable[] {
  return sources.flatMap(({ path, tree }) => {
    const tables: CodeTable[] = [];
    for (const statement of tree.statements.filter(ts.isVariableStatement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        const object = initializer && ts.isAsExpression(initializer) ? initializer.expression : initializer;
        if (object === undefined || !/^(?:exit[A-Z]\w*|\w+Codes?)$/.test(name.getText())) continue;
        const doc = docOf(statement);
        if (ts.isNumericLiteral(object)) {
          tables.push({ name: name.getText(), doc: "", path, codes: [{ code: object.text, doc }] });
        } else if (ts.isObjectLiteralExpression(object)) {
          const codes = object.properties
            .filter(ts.isPropertyAssignment)
            .filter((it) => ts.isNumericLiteral(it.initializer))
            .map((it) => ({
              code: it.initializer.getText(),
              doc: [wordsOf(it.name.getText()), docOf(it)].filter((text) => text !== "").join(": "),
            }));
          if (codes.length > 0) tables.push({ name: name.getText(), doc, path, codes });
        }
      }
    }
    return tables;
  });
}

/** "incompatible version" for "incompatibleVersion". */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function codeTable(head: string, codes: readonly ErrorCode[]): string {
  return table(
    [head, "Meaning"],
    codes.map((it) => [code(it.code), it.doc]),
  );
}
