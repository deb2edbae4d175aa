// SPDX-License-Identifier: Apache-2.0
/**
 * Type-checks snippets of code, each in the context of a module, in one TypeScript program. A name in a snippet is
 * looked up in this order: declared by the snippet, an export or an import of the module, an export of its package or
 * of a library. Then a global, and an export of a Node module. Any other name is a variable of type `any`; it must not
 * be called.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { freeNames } from "./free-names.ts";
import { createExportReader, type ExportReader } from "./module-exports.ts";
import { typeErrors } from "./type-check.ts";
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

/** Calls that stand for whatever the reader does. */
const placeholders = ["log", "report", "retry", "run", "send", "use", "view", "wait", "work"];

const jestNames = ["afterAll", "afterEach", "beforeAll", "beforeEach", "describe", "expect", "it", "test"];

/** The problems of all snippets, in the order of the files. `root` is the workspace's. */
export function checkUsage(root: string, files: readonly SnippetsOfFile[]): readonly UsageProblem[] {
  const exportsOf = createExportReader(root);
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
  const compilable = checks.filter(({ unknown }) => unknown.length === 0);
  const errors = typeErrors(new Map(compilable.map(({ path, text }) => [path, text])));
  for (const { of, snippet, path } of compilable) {
    const message = errors.get(path);
    if (message !== undefined) problems.push({ file: of.file, line: snippet.line, code: snippet.code, message });
  }
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
  readonly exportsOf: ExportReader;
}): Check {
  const { root, of, snippet, index, exportsOf } = options;
  const folder = join(root, dirname(of.file));
  const isReadme = !of.file.endsWith(".ts");
  const module = isReadme ? undefined : join(root, of.file);
  const { imports, body } = parseSnippet(fillEllipses(snippet.code), isReadme);
  const { used, called } = freeNames(`${imports}\nasync function usage() {\n${body}\n}`);

  const own = module === undefined ? undefined : exportsOf.read(module);
  const lines = [imports, "declare const __rest: any;"];
  const unknown: string[] = [];
  const imported = (from: string, name: string) => `import { ${name} } from ${JSON.stringify(from)};`;
  for (const name of used) {
    if (own?.all.has(name) && module !== undefined) lines.push(imported(`./${relative(folder, module)}`, name));
    else if (jestNames.includes(name)) lines.push(imported("@jest/globals", name));
    else if (own?.imports.has(name)) lines.push(own.imports.get(name) ?? "");
    else if (name in globalThis || name === "globalThis" || isTypeGlobal(name)) continue;
    else if (called.has(name) || /^[A-Z]/.test(name)) {
      const from = exportsOf.find(name, folder);
      if (from) lines.push(imported(from, name));
      else if (from === undefined && called.has(name) && !placeholders.includes(name)) unknown.push(name);
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

/** Names that only types have: they are not in globalThis. */
function isTypeGlobal(name: string): boolean {
  return ["Record", "Partial", "Readonly", "ReadonlyMap", "ReadonlySet", "const"].includes(name);
}
