// SPDX-License-Identifier: Apache-2.0
/**
 * mutantsOf lists small changes of a source that its tests should notice: other operators, negated conditions, other
 * literals, calls that are left out, and functions without a body.
 * Usage: `sampleOf(mutantsOf("src/a.ts", text), 3)`.
 */
import { createHash } from "node:crypto";
import ts from "typescript";

/** A change of one place in a source. */
export interface Mutant {
  /** Path of the source. */
  readonly file: string;
  /** Line of the place, from 1. */
  readonly line: number;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  /** The text at the place, and what replaces it. */
  readonly original: string;
  readonly replacement: string;
}

type Change = readonly [node: ts.Node, replacement: string];

export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (isWithoutCode(node)) return;
    for (const [changed, replacement] of changesOf(node)) {
      const [start, end] = [changed.getStart(source), changed.getEnd()];
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      found.push({ file, line, start, end, original: text.slice(start, end), replacement });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * Returns as many mutants as asked for, from different lines where possible. The choice depends only on what is at each place,
 * so a change elsewhere in the file keeps it.
 */
export function sampleOf(mutants: readonly Mutant[], count: number): readonly Mutant[] {
  const rank = ({ file, original, replacement }: Mutant): string =>
    createHash("sha256").update(`${file}\0${original}\0${replacement}`).digest("hex");
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const lines = new Set<number>();
  const [first, later]: [Mutant[], Mutant[]] = [[], []];
  for (const { mutant } of ranked) {
    (lines.has(mutant.line) ? later : first).push(mutant);
    lines.add(mutant.line);
  }
  return [...first, ...later].slice(0, count);
}

/** Types, imports and constant names: nothing that runs. */
function isWithoutCode(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}

const operators: Readonly<Partial<Record<ts.SyntaxKind, readonly string[]>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ["!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ["==="],
  [ts.SyntaxKind.LessThanToken]: ["<=", ">="],
  [ts.SyntaxKind.LessThanEqualsToken]: ["<", ">"],
  [ts.SyntaxKind.GreaterThanToken]: [">=", "<="],
  [ts.SyntaxKind.GreaterThanEqualsToken]: [">", "<"],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ["||"],
  [ts.SyntaxKind.BarBarToken]: ["&&"],
  [ts.SyntaxKind.QuestionQuestionToken]: ["&&"],
  [ts.SyntaxKind.MinusToken]: ["+"],
  [ts.SyntaxKind.AsteriskToken]: ["/"],
};

/** Methods, and those that replace them; "" leaves the call out. */
const methods: Readonly<Record<string, string>> = {
  filter: "",
  sort: "",
  toSorted: "",
  reverse: "",
  slice: "",
  trim: "",
  toLowerCase: "",
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
};

function changesOf(node: ts.Node): readonly Change[] {
  if (ts.isBinaryExpression(node)) {
    return (operators[node.operatorToken.kind] ?? []).map((text) => [node.operatorToken, text]);
  }
  if (ts.isConditionalExpression(node)) return [[node.condition, `!(${node.condition.getText()})`]];
  if (ts.isIfStatement(node)) {
    return [
      [node.expression, "true"],
      [node.expression, "false"],
    ];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, "false"]];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, "true"]];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [[node, node.operand.getText()]];
  }
  if (ts.isCallExpression(node)) return changesOfCall(node);
  if (isText(node)) return [[node, '""']];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return [[node, "[]"]];
  if (ts.isFunctionDeclaration(node) && node.body && node.body.statements.length > 0) return [[node.body, "{}"]];
  return [];
}

function changesOfCall(call: ts.CallExpression): readonly Change[] {
  const { expression } = call;
  if (!ts.isPropertyAccessExpression(expression)) return [];
  const other = Object.hasOwn(methods, expression.name.text) ? methods[expression.name.text] : undefined;
  if (other === undefined) return [];
  return other === "" ? [[call, expression.expression.getText()]] : [[expression.name, other]];
}

/** Texts that are values; the name of a member is not one. */
function isText(node: ts.Node): boolean {
  if (ts.isTemplateExpression(node)) return !ts.isTaggedTemplateExpression(node.parent);
  if (!ts.isStringLiteral(node) || node.text === "") return false;
  return !(ts.isPropertyAssignment(node.parent) && node.parent.name === node);
}
