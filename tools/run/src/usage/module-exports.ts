// SPDX-License-Identifier: Apache-2.0
/** Reads what the modules of the workspace export and import, from their syntax alone. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

/** Modules whose functions a snippet may call without an import. */
const nodeModules = ["fs/promises", "fs", "path", "child_process", "os", "https"].map((name) => `node:${name}`);

/** Exports of those modules that are common words. */
const commonWords = ["access", "close", "create", "exec", "open", "read", "watch", "write"];

export interface Exports {
  readonly all: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
  /** Name to the import declaration that brings it. */
  readonly imports: ReadonlyMap<string, string>;
}

export interface ExportReader {
  read(path: string): Exports;
  /** The specifier of a module that exports `name`, for a file in `folder`; "" if several of its package do. */
  find(name: string, folder: string): string | undefined;
}

/** `root` is the workspace's. What was read is kept. */
export function createExportReader(root: string): ExportReader {
  const known = new Map<string, Exports>();
  const indexes = new Map<string, ReadonlyMap<string, string>>();
  let entries: readonly string[] | undefined;
  return { read, find };

  function read(path: string): Exports {
    const found = known.get(path) ?? readExports(path);
    known.set(path, found);
    return found;
  }

  function find(name: string, folder: string): string | undefined {
    const [area = "", project = ""] = relative(root, folder).split("/");
    const source = area === "e2e" ? join(root, area) : join(root, area, project);
    const local = indexOf(source).get(name);
    if (local !== undefined) return local === "" ? "" : relativeTo(folder, local);
    const entry = libraryEntries().find((path) => read(path).all.has(name));
    if (entry !== undefined) return relativeTo(folder, entry);
    if (commonWords.includes(name)) return undefined;
    return nodeModules.find((module) => name in (process.getBuiltinModule(module) ?? {}));
  }

  function libraryEntries(): readonly string[] {
    entries ??= ["libs", "apps", "tools"].flatMap((area) =>
      ts.sys
        .getDirectories(join(root, area))
        .flatMap((name) => ["index.ts", "testing/index.ts"].map((file) => join(root, area, name, "src", file)))
        .filter((path) => existsSync(path)),
    );
    return entries;
  }

  /** Names that the files of a package export, each with its file, or "" if there are several. */
  function indexOf(source: string): ReadonlyMap<string, string> {
    const found = indexes.get(source);
    if (found !== undefined) return found;
    const index = new Map<string, string>();
    const several = new Set<string>();
    for (const path of ts.sys.readDirectory(source, [".ts"], ["**/node_modules", "**/dist", "**/*.test.ts"])) {
      for (const name of read(path).all) {
        if (index.has(name)) several.add(name);
        index.set(name, path);
      }
    }
    for (const name of several) index.set(name, "");
    indexes.set(source, index);
    return index;
  }
}

function relativeTo(folder: string, path: string): string {
  const specifier = relative(folder, path);
  return specifier.startsWith(".") ? specifier : `./${specifier}`;
}

function readExports(path: string): Exports {
  const all = new Set<string>();
  const values = new Set<string>();
  const imports = new Map<string, string>();
  const add = (name: string, isValue: boolean) => {
    all.add(name);
    if (isValue) values.add(name);
  };
  for (const it of ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2024, true).statements) {
    const isExported =
      ts.canHaveModifiers(it) && ts.getModifiers(it)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (ts.isVariableStatement(it) && isExported) {
      for (const { name } of it.declarationList.declarations) if (ts.isIdentifier(name)) add(name.text, true);
    } else if ((ts.isFunctionDeclaration(it) || ts.isClassDeclaration(it)) && isExported && it.name)
      add(it.name.text, true);
    else if ((ts.isInterfaceDeclaration(it) || ts.isTypeAliasDeclaration(it)) && isExported) add(it.name.text, false);
    else if (ts.isExportDeclaration(it) && it.exportClause && ts.isNamedExports(it.exportClause)) {
      for (const { name, isTypeOnly } of it.exportClause.elements) add(name.text, !isTypeOnly && !it.isTypeOnly);
    } else if (ts.isImportDeclaration(it)) noteImports(it, imports);
  }
  return { all, values, imports };
}

function noteImports(it: ts.ImportDeclaration, imports: Map<string, string>): void {
  const { importClause: clause, moduleSpecifier } = it;
  const from = moduleSpecifier.getText();
  if (clause?.name) imports.set(clause.name.text, `import ${clause.name.text} from ${from};`);
  const bindings = clause?.namedBindings;
  if (bindings && ts.isNamespaceImport(bindings)) {
    imports.set(bindings.name.text, `import * as ${bindings.name.text} from ${from};`);
  } else if (bindings) {
    for (const one of bindings.elements) {
      const name = one.propertyName ? `${one.propertyName.text} as ${one.name.text}` : one.name.text;
      imports.set(one.name.text, `import { ${name} } from ${from};`);
    }
  }
}
