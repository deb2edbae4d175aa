// SPDX-License-Identifier: Apache-2.0
/**
 * Type-checks snippets of code, each in the context of a module, in one TypeScript program. A name in a snippet is, in this
 * order: declared by the snippet, an export or an import of the module, an export of its package or of a library, a global,
 * an export of a Node module. Any other name is a variable of type `any`; it must not be called.
 * Usage: `for (const { file, line, message } of checkUsage(root, [{ file, snippets }])) console.error(message);`.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { fillEllipses, type Snippet } from "./usage-snippets.ts";

export interface SnippetsOfFile {
  /** Relative to the root: a source file, or a README.md whose package is meant. */
  readonly file: string;
  readonly snippets: readonly Snippet[];
}

export interface UsageProblem {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

interface Check {
  readonly of: SnippetsOfFile;
  readonly snippet: Snippet;
  readonly path: string;
  readonly text: string;
  /** Names that are called and that nothing declares. */
  readonly unknown: readonly string[];
}

/** Modules whose functions a snippet may call without an import. */
const nodeModules = ["fs/promises", "fs", "path", "child_process", "os", "https"].map((name) => `node:${name}`);

/** Exports of those modules that are common words. */
const commonWords = ["access", "close", "create", "exec", "open", "read", "watch", "write"];

const jestNames = ["afterAll", "afterEach", "beforeAll", "beforeEach", "describe", "expect", "it", "test"];

/**
 * Errors of the checker that are no fault of a snippet: a spread of `any`, which stands for an ellipsis, where a fixed number
 * of arguments is wanted (2556); a name that is declared in another block of the snippet (2304, 18004), since names that
 * nothing declares are found otherwise.
 */
const ignoredErrors = [2556, 2304, 18004];

/** The problems of all snippets, in the order of the files. `root` is the workspace's. */
export function checkUsage(root: string, files: readonly SnippetsOfFile[]): readonly UsageProblem[] {
  const exportsOf = createExportReader();
  const problems: UsageProblem[] = [];
  const checks: Check[] = [];
  for (const of of files) {
    const commands = of.snippets.filter(({ isCommand }) => isCommand);
    problems.push(...commands.flatMap((snippet) => commandProblem(root, of.file, snippet)));
    const code = of.snippets.filter(({ isCommand }) => !isCommand);
    checks.push(...code.map((snippet, index) => buildCheck({ root, of, snippet, index, exportsOf })));
    problems.push(...strangeSnippet(join(root, of.file), of.file, code));
  }
  for (const { of, snippet, unknown } of checks) {
    const { line, code } = snippet;
    for (const name of unknown) {
      problems.push({ file: of.file, line, code, message: `calls ${name}, which no module exports` });
    }
  }
  problems.push(...typeProblems(checks.filter(({ unknown }) => unknown.length === 0)));
  return problems.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}

function commandProblem(root: string, file: string, { line, code }: Snippet): readonly UsageProblem[] {
  const words = code.split(" ").filter((word) => !/^[A-Z_]+=/.test(word));
  const [program, first = "", second = ""] = words;
  const missing = (message: string) => [{ file, line, code, message }];
  if (program === "npm" && first === "run") {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    return second in scripts ? [] : missing(`package.json has no script ${second}`);
  }
  if (program === "npx") {
    const isBin = existsSync(join(root, "node_modules/.bin", first));
    return isBin ? [] : missing(`no package has the program ${first}`);
  }
  if (program === "node" || program === "bash") {
    const script = words.slice(1).find((word) => !word.startsWith("-")) ?? "";
    const packageRoot = file.split("/").slice(0, 2).join("/");
    const places = [root, join(root, dirname(file)), join(root, packageRoot)];
    // A bundle is named after its source.
    const names = [script, script.replace(/\.m?js$/, ".ts")];
    const exists =
      !/\.(?:ts|m?js|sh)$/.test(script) || places.some((place) => names.some((name) => existsSync(join(place, name))));
    return exists || script.startsWith("/") ? [] : missing(`there is no file ${script}`);
  }
  if (program === "switchyard") {
    const exists = !/^[a-z]/.test(first) || existsSync(join(root, `apps/cli/src/verbs/${first}.ts`));
    return exists ? [] : missing(`switchyard has no verb ${first}`);
  }
  return [];
}

/** A usage line must name something that its file provides: an export, or a member of what an export makes. */
function strangeSnippet(path: string, file: string, code: readonly Snippet[]): readonly UsageProblem[] {
  const [first] = code;
  if (first === undefined || !file.endsWith(".ts")) return [];
  const source = readFileSync(path, "utf8").replace(/\/\*\*[\s\S]*?\*\//, "");
  const provided = new Set(source.match(/[\w$]+/g));
  const words = code.flatMap((snippet) => snippet.code.replaceAll(/"[^"]*"/g, "").match(/[A-Za-z$][\w$]{3,}/g) ?? []);
  if (words.some((word) => provided.has(word) && !["const", "await"].includes(word))) return [];
  return [{ file, line: first.line, code: first.code, message: "names nothing that this file has" }];
}

function buildCheck(options: {
  readonly root: string;
  readonly of: SnippetsOfFile;
  readonly snippet: Snippet;
  readonly index: number;
  readonly exportsOf: ReturnType<typeof createExportReader>;
}): Check {
  const { root, of, snippet, index, exportsOf } = options;
  const folder = join(root, dirname(of.file));
  const isReadme = !of.file.endsWith(".ts");
  const module = isReadme ? undefined : join(root, of.file);
  const { imports, body } = parseSnippet(fillEllipses(snippet.code), isReadme);
  const { used, called } = freeNames(`${imports}\nasync function usage() {\n${body}\n}`);

  const own = module === undefined ? undefined : exportsOf(module);
  const lines = [imports, "declare const __rest: any;"];
  const unknown: string[] = [];
  const imported = (from: string, name: string) => `import { ${name} } from ${JSON.stringify(from)};`;
  for (const name of used) {
    if (own?.all.has(name) && module !== undefined) lines.push(imported(`./${relative(folder, module)}`, name));
    else if (jestNames.includes(name)) lines.push(imported("@jest/globals", name));
    else if (own?.imports.has(name)) lines.push(own.imports.get(name) ?? "");
    else if (name in globalThis || name === "globalThis" || isTypeGlobal(name)) continue;
    else if (called.has(name) || /^[A-Z]/.test(name)) {
      const from = exportsOf.find(name, root, folder);
      if (from) lines.push(imported(from, name));
      else if (from === undefined && called.has(name)) unknown.push(name);
      else lines.push(`declare const ${name}: any;`);
    } else lines.push(`declare const ${name}: any;`);
  }
  const text = `${lines.join("\n")}\nexport async function usage() {\n${body}\n}\n`;
  return { of, snippet, path: join(folder, `__usage-${index}-${of.file.split("/").at(-1)}.ts`), text, unknown };
}

/** Splits the imports, which stay outside the function, from the rest. What is no statement is an expression. */
function parseSnippet(code: string, isReadme: boolean): { readonly imports: string; readonly body: string } {
  const isValid = (text: string) => syntaxErrors(`async function usage() {\n${text}\n}`).length === 0;
  if (isReadme || /^(?:import|export) /.test(code)) {
    const { statements } = parse(code);
    const isImport = (it: ts.Statement) => ts.isImportDeclaration(it);
    const textOf = (some: readonly ts.Statement[]) => some.map((it) => code.slice(it.pos, it.end)).join("\n");
    return {
      imports: textOf(statements.filter(isImport)),
      body: textOf(statements.filter((it) => !isImport(it))).replaceAll(/^\s*export /gm, ""),
    };
  }
  const body = /^[{"]/.test(code) || (!isValid(code) && isValid(`(${code});`)) ? `(${code});` : code;
  return { imports: "", body };
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile("usage.ts", text, ts.ScriptTarget.ES2024, true);
}

function syntaxErrors(text: string): readonly unknown[] {
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true, fileName: "usage.ts" });
  return diagnostics;
}

/** Names that a snippet uses and does not declare; those of them that it calls. */
function freeNames(text: string): { readonly used: ReadonlySet<string>; readonly called: ReadonlySet<string> } {
  const [used, called, declared] = [new Set<string>(), new Set<string>(), new Set<string>()];
  visit(parse(text));
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

/** Names that only types have: they are not in globalThis. */
function isTypeGlobal(name: string): boolean {
  return ["Record", "Partial", "Readonly", "ReadonlyMap", "ReadonlySet", "const"].includes(name);
}

interface Exports {
  readonly all: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
  /** Name to the import declaration that brings it. */
  readonly imports: ReadonlyMap<string, string>;
}

/** Reads what modules export and import, from their syntax. */
function createExportReader() {
  const known = new Map<string, Exports>();
  const indexes = new Map<string, ReadonlyMap<string, string>>();
  let entries: readonly string[] | undefined;
  return Object.assign(read, { find });

  function read(path: string): Exports {
    const found = known.get(path) ?? readExports(path);
    known.set(path, found);
    return found;
  }

  /** The specifier of a module that exports `name`, for a file in `folder`; "" if several of its package do. */
  function find(name: string, root: string, folder: string): string | undefined {
    const [area = "", project = ""] = relative(root, folder).split("/");
    const source = area === "e2e" ? join(root, area) : join(root, area, project);
    const local = indexOf(source).get(name);
    if (local !== undefined) return local === "" ? "" : relativeTo(folder, local);
    const entry = entriesOf(root).find((path) => read(path).all.has(name));
    if (entry !== undefined) return relativeTo(folder, entry);
    if (commonWords.includes(name)) return undefined;
    return nodeModules.find((module) => name in (process.getBuiltinModule(module) ?? {}));
  }

  function entriesOf(root: string): readonly string[] {
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
  for (const it of parse(readFileSync(path, "utf8")).statements) {
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

/** From an argument of type `any` TypeScript infers `unknown`, which then fits nothing. */
function isInferredFromAny({ code, messageText }: ts.Diagnostic): boolean {
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  return (code === 2345 || code === 18046) && /\bunknown\b/.test(text);
}

function typeProblems(checks: readonly Check[]): readonly UsageProblem[] {
  const virtual = new Map(checks.map(({ path, text }) => [path, text]));
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.esnext.array.d.ts"],
    types: ["node"],
    strict: true,
    noImplicitAny: false, // parameters of callbacks in a snippet
    noEmit: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = virtual.get(path);
    return text === undefined ? getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  const program = ts.createProgram({ rootNames: [...virtual.keys()], options, host });
  return checks.flatMap(({ of, snippet, path }) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found
      .filter((it) => !ignoredErrors.includes(it.code) && !isInferredFromAny(it))
      .slice(0, 1)
      .map(({ messageText }) => ({
        file: of.file,
        line: snippet.line,
        code: snippet.code,
        message: ts.flattenDiagnosticMessageText(messageText, " "),
      }));
  });
}
