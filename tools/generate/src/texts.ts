// SPDX-License-Identifier: Apache-2.0
/**
 * Collects the texts that users read: help, conditions, events, log messages, errors, admission messages, descriptions of
 * the CRDs, and comments of the chart's values. A text is a string in the source with at least two words.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { alertsIn } from "./reference/alerts-page.ts";

/** Where a text appears; "text" is a part of a message whose place is not known. */
export type TextKind =
  "admission" | "alert" | "chart" | "condition" | "crd" | "error" | "event" | "help" | "log" | "metric" | "text";

export interface UserText {
  /** Relative to the workspace's root. */
  readonly file: string;
  readonly line: number;
  readonly kind: TextKind;
  /** On one line; an expression in it appears as `${…}`. */
  readonly text: string;
}

const sources = ["apps/*/src/**/*.ts", "libs/*/src/**/*.ts", "tools/demo/src/**/*.ts"];
const noSources = /\.(?:test|gen)\.ts$|\/testing\/|^libs\/(?:testing|test-cluster)\//;

/** All texts, in the order of their files. */
export function collectTexts(root: string): readonly UserText[] {
  const files = globSync(sources, { cwd: root }).filter((file) => !noSources.test(file));
  const texts = files.flatMap((file) => textsOfSource(file, readFileSync(join(root, file), "utf8")));
  return [...texts, ...chartTexts(root)].toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}

/** The texts of one source file. */
export function textsOfSource(file: string, source: string): readonly UserText[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2024, true);
  const texts: UserText[] = [];
  visit(tree);
  return texts;

  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (file.startsWith("libs/api/")) addDescriptions(node);
    const text = textOf(node);
    if (text !== undefined) add(node.getStart(), kindOf(node, file), text);
    // Of "a" + "b" the first operand stands for the whole.
    if (text === undefined || ts.isTemplateExpression(node)) ts.forEachChild(node, visit);
  }

  function add(position: number, kind: TextKind, text: string): void {
    const isScript = (text.match(/\n/g) ?? []).length > 2;
    if (!isProse(text) || (isScript && kind !== "crd")) return;
    const { line } = tree.getLineAndCharacterOfPosition(position);
    texts.push({ file, line: line + 1, kind, text: text.replaceAll(/\s+/g, " ").trim() });
  }

  /** The JSDoc of a kind and of its fields is the description in the CRD, that of a reason is in the reference. */
  function addDescriptions(node: ts.Node): void {
    const isReason = ts.isPropertyAssignment(node) && file.endsWith("/condition-types.ts");
    if (!isReason && !ts.isInterfaceDeclaration(node) && !ts.isPropertySignature(node)) return;
    for (const doc of ts.getJSDocCommentsAndTags(node)) {
      const text = ts.isJSDoc(doc) ? ts.getTextOfJSDocComment(doc.comment) : undefined;
      if (text !== undefined) add(doc.getStart(), "crd", text);
    }
  }
}

/** The text of a string, a template or a sum of them. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) => `\${${short(expression)}}${literal.text}`);
    return node.head.text + spans.join("");
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

function short(expression: ts.Expression): string {
  const text = expression.getText().replaceAll(/\s+/g, " ");
  return /^[\w.]+(?:\(\))?$/.test(text) && text.length < 30 ? text : "…";
}

/** Two words with a blank between them, at least one of them of lower-case letters. */
function isProse(text: string): boolean {
  return (
    /(?:^|[\s("'`}>])[A-Za-z][a-z'-]*[,;:.]? (?:[a-z]{2,}|[A-Z][a-z]+|\$\{|")/.test(text) && !/^[\s\W]*$/.test(text)
  );
}

const logMethods = ["debug", "error", "fatal", "info", "trace", "warn"];

function kindOf(node: ts.Node, file: string): TextKind {
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    const { parent } = at;
    if (ts.isPropertyAssignment(parent) && parent.initializer === at) {
      const name = parent.name.getText();
      if (name === "help" && hasMember(parent.parent, "name")) return "metric";
      if (name === "alert" || hasMember(parent.parent, "alert")) return "alert";
      if (["about", "help", "summary"].includes(name)) return "help";
      if (name === "note") return "event";
      if (name === "message") return "condition";
    }
    if (ts.isCallExpression(parent) && parent.expression !== at) {
      const { expression } = parent;
      if (["normal", "warning"].includes(expression.getText())) return "event";
      const isLog = ts.isPropertyAccessExpression(expression) && logMethods.includes(expression.name.text);
      if (isLog && /\b(?:log|logger|console)\b/i.test(expression.expression.getText())) return "log";
    }
    if (ts.isVariableDeclaration(parent) && parent.initializer === at) {
      if (parent.name.getText() === "note") return "event";
      if (parent.name.getText() === "message") return "condition";
    }
    if (ts.isNewExpression(parent) && /Error$/.test(parent.expression.getText())) return "error";
  }
  if (file.startsWith("libs/admission/")) return "admission";
  return file.startsWith("apps/cli/src/help") ? "help" : "text";
}

function hasMember(node: ts.Node, name: string): boolean {
  return ts.isObjectLiteralExpression(node) && node.properties.some((it) => it.name?.getText() === name);
}

/** Texts of the alerts and the dashboards, comments of the values, and the notes that an installation prints. */
function chartTexts(root: string): readonly UserText[] {
  const texts = (file: string, kind: TextKind, pattern: RegExp) => {
    const path = join(root, file);
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    return lines.flatMap((line, index) => {
      const text = pattern.exec(line)?.[1];
      return text === undefined || !isProse(text) ? [] : [{ file, line: index + 1, kind, text }];
    });
  };
  return [
    ...globSync("charts/switchyard/alerts/*.yaml", { cwd: root }).flatMap((file) =>
      textsOfAlerts(file, readFileSync(join(root, file), "utf8")),
    ),
    ...globSync("charts/switchyard/dashboards/*.json", { cwd: root }).flatMap((file) =>
      texts(file, "chart", /"(?:title|description)": "(.*)"/),
    ),
    ...texts("charts/switchyard/values.yaml", "chart", /#+ (.*)/),
    ...texts("charts/switchyard/templates/NOTES.txt", "chart", /^(?!\{\{)(.*\S.*)$/),
  ];
}

/** Each annotation of an alert stands at the line of the alert's name. */
function textsOfAlerts(file: string, source: string): readonly UserText[] {
  const lines = source.split("\n");
  return alertsIn(source).flatMap(({ alert, annotations }) => {
    const line = lines.findIndex((one) => one.trimEnd().endsWith(`alert: ${alert}`)) + 1;
    return Object.values(annotations).map((text) => ({ file, line, kind: "alert" as const, text }));
  });
}
