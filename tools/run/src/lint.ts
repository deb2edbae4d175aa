// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run lint` checks the types and the rules of eslint.config.js, with one TypeScript program and one ESLint for the whole
 * workspace. It leaves out the files of which the result cannot have changed since the last run that found nothing.
 * TypeScript knows which files a change affects, namely a changed file, and the files that use its declarations if
 * these have changed. `-- --all` leaves out none.
 */
import { createProjectGraphAsync, readCachedProjectGraph } from "@nx/devkit";
import { ESLint } from "eslint";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { compileWorkspace } from "./compile-workspace.ts";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, ".nx/lint");
/** The program of the last run that found nothing. */
const state = join(folder, "program.tsbuildinfo");
/** What else decided about its results. */
const keyFile = join(folder, "key");
/** These have another tsconfig.json, and are few: they are checked if they, or what they import, have changed. */
const site = "docs/.vitepress/**/*.ts";

process.chdir(root);
const all = process.argv.includes("--all");
const last = existsSync(keyFile) && !all ? readFileSync(keyFile, "utf8").split("\n") : [];
const rulesKey = digest(ruleFiles());
if (last[0] !== rulesKey) rmSync(folder, { recursive: true, force: true });

const { program, files, affected, errors, save } = compileWorkspace({ config: join(root, "tsconfig.json"), state });
console.log(`${affected.length} of ${files.length} files are affected by changes; errors of types: ${errors.length}`);
if (errors.length > 0) {
  const host = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  };
  console.log(ts.formatDiagnosticsWithColorAndContext(errors, host));
  process.exit(1);
}

process.env["NX_DAEMON"] = "false";
// Without this graph in Nx's cache, the rule on imports between projects is skipped. The second call throws if it is missing.
await createProjectGraphAsync({ exitOnError: true });
readCachedProjectGraph();
const lazyKey = digest(lazyImports());
const siteKey = digest(globSync([site, "tools/docs/src/*.ts"]));
const isSame = last[0] === rulesKey && last[1] === lazyKey;
const parserOptions = { projectService: false, programs: [program] };
const ofProgram = [{ files: ["{apps,libs,tools,e2e}/**/*.ts"], languageOptions: { parserOptions } }];
const results = [
  ...(await lint(isSame ? affected : files, new ESLint({ overrideConfig: ofProgram, warnIgnored: false }))),
  ...(isSame && last[2] === siteKey ? [] : await lint([site], new ESLint({ warnIgnored: false }))),
];
const problems = results.reduce((sum, { errorCount, warningCount }) => sum + errorCount + warningCount, 0);
const formatter = await new ESLint().loadFormatter("stylish");
process.stdout.write(await formatter.format(results));
console.log(`${results.length} files checked by ESLint: ${problems} problems`);
if (problems === 0) {
  save();
  writeFileSync(keyFile, `${rulesKey}\n${lazyKey}\n${siteKey}\n`);
}
process.exitCode = problems === 0 ? 0 : 1;

function lint(files: readonly string[], eslint: ESLint): Promise<ESLint.LintResult[]> {
  return files.length === 0 ? Promise.resolve([]) : eslint.lintFiles([...files]);
}

/** Files with the rules, the packages, and the tags of projects. */
function ruleFiles(): readonly string[] {
  const config = [
    "eslint.config.js",
    "tools/nx/short-sentences.js",
    "tsconfig.json",
    "tsconfig.base.json",
    "package-lock.json",
    "nx.json",
  ];
  return [
    ...config,
    ...globSync(["{apps,libs,tools}/*/package.json", "e2e/package.json", "tools/run/src/{lint,compile-workspace}.ts"]),
  ];
}

/** Files that import a package of the workspace lazily: no other file may import that package statically. */
function lazyImports(): readonly string[] {
  return files.filter((file) => /\bimport\("@switchyard\//.test(readFileSync(file, "utf8")));
}

function digest(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...files].sort()) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest("hex");
}
