// SPDX-License-Identifier: Apache-2.0
/** Finds the names in a piece of code that it does not declare. */
import ts from "typescript";

export interface FreeNames {
  readonly used: ReadonlySet<string>;
  /** Those of them that are called where the reader is not free to write something else. */
  readonly called: ReadonlySet<string>;
}

/** `text` is TypeScript. */
export function freeNames(text: string): FreeNames {
  const [used, called, declared] = [new Set<string>(), new Set<string>(), new Set<string>()];
  visit(ts.createSourceFile("usage.ts", text, ts.ScriptTarget.ES2024, true));
  return { used: new Set([...used].filter((name) => !declared.has(name))), called };

  function visit(node: ts.Node): void {
    if (ts.isIdentifier(node)) note(node);
    ts.forEachChild(node, visit);
  }

  function note(node: ts.Identifier): void {
    const { parent, text: name } = node;
    if (name === "__rest" || name === "undefined") return;
    const isDeclaration =
      (ts.isVariableDeclaration(parent) ||
        ts.isParameter(parent) ||
        ts.isBindingElement(parent) ||
        ts.isFunctionDeclaration(parent) ||
        ts.isImportSpecifier(parent) ||
        ts.isImportClause(parent) ||
        ts.isNamespaceImport(parent)) &&
      parent.name === node;
    if (isDeclaration) declared.add(name);
    const isMember =
      (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
      (ts.isPropertyAssignment(parent) && parent.name === node) ||
      (ts.isMethodDeclaration(parent) && parent.name === node) ||
      (ts.isPropertySignature(parent) && parent.name === node) ||
      (ts.isBindingElement(parent) && parent.propertyName === node);
    if (isDeclaration || isMember) return;
    used.add(name);
    const isCall = (ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === node;
    if (isCall && !isReaders(parent)) called.add(name);
  }
}

/** Whether a call is in a callback or behind an `if`, where a usage line shows what the reader may do. */
function isReaders(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isArrowFunction(parent) || ts.isFunctionExpression(parent)) return true;
  if (ts.isIfStatement(parent) && parent.thenStatement === node) return true;
  return !ts.isSourceFile(parent) && isReaders(parent);
}
