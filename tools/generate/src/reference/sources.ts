// SPDX-License-Identifier: Apache-2.0
/** The sources of the product as syntax trees: apps and libs without tests, fakes and generated files. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export interface Source {
  /** From the workspace's root: "libs/kube/src/write/apply.ts". */
  readonly path: string;
  readonly tree: ts.SourceFile;
}

const noSource = /\.(?:test|gen)\.ts$|\/testing\/|^libs\/(?:testing|test-cluster)\//;

/** Sorted by path. */
export function readSources(root: string): readonly Source[] {
  return globSync(["apps/*/src/**/*.ts", "libs/*/src/**/*.ts"], { cwd: root })
    .filter((path) => !noSource.test(path))
    .toSorted()
    .map((path) => ({ path, tree: parseSource(path, readFileSync(join(root, path), "utf8")) }));
}

export function parseSource(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2024, true);
}

/** Calls `visit` for a node and all below it. */
export function descend(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => {
    descend(child, visit);
  });
}

/** The JSDoc right before a node, on one line; "" if it has none. The header of a file is not that of its first statement. */
export function docOf(node: ts.Node): string {
  const between = (doc: ts.JSDoc) => node.getSourceFile().text.slice(doc.getEnd(), node.getStart());
  const docs = ts
    .getJSDocCommentsAndTags(node)
    .filter((it): it is ts.JSDoc => ts.isJSDoc(it) && !/\n\s*\n/.test(between(it)));
  return (ts.getTextOfJSDocComment(docs.at(-1)?.comment) ?? "").replaceAll(/\s+/g, " ").trim();
}

/** The text of a tag in the JSDoc of a node, such as `@remedy`, on one line; "" if it has none. */
export function tagOf(node: ts.Node, name: string): string {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name);
  return (ts.getTextOfJSDocComment(tag?.comment) ?? "").replaceAll(/\s+/g, " ").trim();
}

/** The value of a member of an object literal, its own or of an object of the same file that is spread into it. */
export function memberOf(object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const member = object.properties.find((it) => it.name?.getText() === name);
  if (member !== undefined && ts.isPropertyAssignment(member)) return member.initializer;
  if (member !== undefined && ts.isShorthandPropertyAssignment(member)) return member.name;
  const spread = object.properties.filter(ts.isSpreadAssignment).map(({ expression }) => constantOf(expression));
  return spread
    .filter((it) => it !== undefined && ts.isObjectLiteralExpression(it))
    .map((it) => memberOf(it, name))
    .find((it) => it !== undefined);
}

/** What a constant of the same file is set to; any other expression is itself. */
export function constantOf(expression: ts.Expression): ts.Expression | undefined {
  if (ts.isAsExpression(expression)) return constantOf(expression.expression);
  if (!ts.isIdentifier(expression)) return expression;
  const values: ts.Expression[] = [];
  descend(expression.getSourceFile(), (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== expression.text) return;
    if (node.initializer !== undefined && !ts.isIdentifier(node.initializer)) values.push(node.initializer);
  });
  return values[0];
}

/** The text of a string literal, or of a sum or a template of them, in which expressions appear as `…`. */
export function literalText(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [literalText(node.left), literalText(node.right)];
    return left === undefined && right === undefined ? undefined : (left ?? "…") + (right ?? "…");
  }
  return undefined;
}
