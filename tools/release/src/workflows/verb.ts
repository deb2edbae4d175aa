// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- workflows` checks the workflows in .github. */
import { goPrograms } from "@switchyard/go-programs";
import { ensurePrograms, outputOf, TestingError } from "@switchyard/testing";
import { accessSync, constants } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Verb, VerbInput } from "../command-line.ts";
import { ReleaseError } from "../release-error.ts";
import { checkWorkflow } from "./check-workflow.ts";

/** `npm test` runs these folders of e2e. */
const ofTest = ["integration", "src"];

export const e2eParts: Verb = {
  summary: "print the parts of npm run e2e, as JSON",
  operands: "",
  flags: {},
  run: async ({ root, print }) => {
    print(JSON.stringify(await listParts(root)));
  },
};

export const workflows: Verb = {
  summary: "check the workflows: actionlint, shellcheck, pinned actions, rights, time limits",
  operands: "",
  flags: {},
  run: async ({ root, env, print }) => {
    const directory = join(root, ".github/workflows");
    const files = (await readdir(directory)).filter((file) => /\.ya?ml$/.test(file)).sort();
    const scripts = await scriptsOf(root);
    const problems: string[] = [];
    for (const file of files) {
      const text = await readFile(join(directory, file), "utf8");
      problems.push(...checkWorkflow({ file: `.github/workflows/${file}`, text, scripts }));
    }
    problems.push(...(await lint(root, await ensureShellcheck(env))));
    if (problems.length > 0) throw new ReleaseError("failed", problems.join("\n"));
    print(`${files.length} workflows are correct: ${files.join(", ")}`);
  },
};

async function scriptsOf(root: string): Promise<readonly string[]> {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly scripts: object };
  return Object.keys(manifest.scripts);
}

/**
 * actionlint checks the scripts of steps only if it finds shellcheck, and does not say so. Root gets it from the
 * distribution.
 */
async function ensureShellcheck(env: VerbInput["env"]): Promise<string> {
  const found = findProgram("shellcheck", env);
  if (found !== undefined) return found;
  await ensurePrograms(["shellcheck"], { env }).catch((error: unknown) => {
    throw error instanceof TestingError ? new ReleaseError("failed", error.message) : error;
  });
  return "/usr/bin/shellcheck";
}

function findProgram(name: string, env: VerbInput["env"]): string | undefined {
  const programs = (env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name));
  return programs.find((program) => {
    try {
      accessSync(program, constants.X_OK);
      return true;
    } catch {
      return false; // not here
    }
  });
}

/** Returns the lines that actionlint prints. It exits with 1 if it finds problems. */
async function lint(root: string, shellcheck: string): Promise<readonly string[]> {
  const actionlint = join(await goPrograms("actionlint"), "actionlint");
  try {
    await outputOf(actionlint, ["-no-color", "-oneline", "-shellcheck", shellcheck, "-pyflakes", ""], { cwd: root });
    return [];
  } catch (error) {
    if (error instanceof TestingError) return [error.message];
    throw error;
  }
}

/**
 * listParts lists the parts of `npm run e2e`, so that the nightly run has all of them.
 * Arguments of `npm run e2e`: the folders with tests; faults at every point.
 */
export async function listParts(root: string): Promise<readonly string[]> {
  const files = await readdir(join(root, "e2e"), { recursive: true });
  const tests = files.filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
  const folders = new Set(tests.map((file) => file.split("/")[0] ?? ""));
  const parts = [...folders].filter((folder) => !ofTest.includes(folder)).sort();
  return parts.map((part) => (part === "faults" ? "faults --all" : part));
}
