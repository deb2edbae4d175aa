// SPDX-License-Identifier: Apache-2.0
/**
 * integrationInputs returns the inputs of one test target for each folder of e2e/integration, and testInputs those of one file,
 * so that a change reruns only the tests that it affects. The inputs of a target are derived from its sources:
 * - the files of its folder, or the one file, and the files of e2e that these import;
 * - the projects that these files import, with all projects that those depend on;
 * - what string literals of these files name by its path from the workspace, such as "apps/operator/src/main.ts" (a
 *   program that a test starts: its project and that project's dependencies) or "docs/typescript.md" (a file).
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The folders of e2e/integration with the `inputs` of their tests. `manifests` maps the root of each project of the
 * workspace to its package.json.
 */
export function integrationInputs(root, workspaceRoot, manifests) {
  const parent = join(root, "integration");
  if (!existsSync(join(workspaceRoot, parent))) return [];
  const folders = readdirSync(join(workspaceRoot, parent), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return folders.map(({ name }) => ({ name, inputs: inputsOf(join(parent, name), workspaceRoot, manifests) }));
}

/** The `inputs` of a test file that is a path from the workspace. */
export function testInputs(file, workspaceRoot, manifests) {
  return inputsOfFiles([file], file, { workspaceRoot, manifests });
}

function inputsOf(folder, workspaceRoot, manifests) {
  const files = readdirSync(join(workspaceRoot, folder), { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));
  return inputsOfFiles(files, folder, { workspaceRoot, manifests });
}

/** `folder` has the files; it can be the only one. */
function inputsOfFiles(ofTarget, folder, { workspaceRoot, manifests }) {
  const projects = new Set();
  const paths = new Set([...(ofTarget.includes(folder) ? [folder] : [`${folder}/**/*`]), "charts/**/*"]);
  const files = new Set(ofTarget);
  for (const file of files) {
    if (!file.startsWith(`${folder}/`)) paths.add(file);
    const text = readFileSync(join(workspaceRoot, file), "utf8");
    for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      const imported = join(dirname(file), specifier);
      if (!specifier.startsWith(".")) addProject(projects, specifier, manifests);
      else if (existsSync(join(workspaceRoot, imported))) files.add(imported);
    }
    for (const [, path] of text.matchAll(/["'`]((?:apps|charts|docs|e2e|libs|tools)\/\w[\w./-]*)/g)) {
      const project = Object.keys(manifests).find((candidate) => candidate !== "e2e" && isWithin(path, candidate));
      if (project !== undefined) addProject(projects, manifests[project].name, manifests);
      else if (![folder, "charts"].some((known) => isWithin(path, known))) addPath(paths, path, workspaceRoot);
    }
  }
  return [
    ...[...paths].sort().map((path) => `{workspaceRoot}/${path}`),
    { input: "default", projects: [...projects].sort() },
  ];
}

function isWithin(path, folder) {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Adds a file, or all files of a folder; a path that does not exist is not one of the workspace ("apps/v1"). */
function addPath(paths, path, workspaceRoot) {
  const stat = statSync(join(workspaceRoot, path), { throwIfNoEntry: false });
  if (stat !== undefined) paths.add(stat.isDirectory() ? join(path, "**/*") : path);
}

/** Adds the project that `specifier` imports, and all projects that it depends on. */
function addProject(projects, specifier, manifests) {
  const manifest = Object.values(manifests).find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (manifest === undefined || projects.has(manifest.name)) return;
  projects.add(manifest.name);
  const { dependencies = {}, nx = {} } = manifest;
  for (const name of [...Object.keys(dependencies), ...(nx.implicitDependencies ?? [])]) {
    addProject(projects, name, manifests);
  }
}
