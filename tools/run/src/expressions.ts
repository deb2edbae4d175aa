// SPDX-License-Identifier: Apache-2.0
/**
 * findExpressions lists the regular expressions of the product, so that a test can check that each takes time in proportion to its
 * input. A quadratic one stops a process for hours if somebody else chooses the text (fuzzing found such expressions).
 */
import ts from "typescript";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

export interface Expression {
  /** As in the source, with slashes and flags. */
  readonly literal: string;
  /** The first file that contains it. */
  readonly file: string;
}

/** Sources that run at users: those of apps and libs, without tests and what only tests import. */
const isProduct = (path: string) =>
  /^(?:apps|libs)\//.test(path) &&
  !/\.(?:test|fuzz)\.ts$|\/testing\/|^libs\/(?:testing|test-cluster)\/|\.gen\.ts$|\.d\.ts$/.test(path);

/** Returns each literal once, in the order of the files. */
export function findExpressions(): readonly Expression[] {
  const found = new Map<string, Expression>();
  for (const file of workspaceFiles([".ts"]).filter(isProduct)) {
    for (const literal of expressionsIn(readWorkspaceFile(file))) {
      if (!found.has(literal)) found.set(literal, { literal, file });
    }
  }
  return [...found.values()];
}

/** Returns the literals of a source. */
export function expressionsIn(text: string): readonly string[] {
  if (!text.includes("/")) return [];
  const literals: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, false));
  return literals;
}
