// SPDX-License-Identifier: Apache-2.0
/**
 * The targets of every project, inferred from what it holds, so that no project repeats them (Nx createNodesV2):
 * `lint`, `typecheck` and `test` where there is a tsconfig.json, `build` for apps with a src/main.ts.
 * Test results go to reports/<project>.json, an output of the target: a cached run still counts its tests.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const name = "switchyard-targets";

export const createNodesV2 = [
  "{apps,libs,tools,e2e}/**/package.json",
  (files, _options, { workspaceRoot }) =>
    files.map((file) => [file, { projects: projectsOf(dirname(file), workspaceRoot) }]),
];

function projectsOf(root, workspaceRoot) {
  const has = (file) => existsSync(join(workspaceRoot, root, file));
  const manifest = JSON.parse(readFileSync(join(workspaceRoot, root, "package.json"), "utf8"));
  const targets = {};
  const up = root
    .split("/")
    .map(() => "..")
    .join("/");
  if (has("tsconfig.json")) {
    targets.typecheck = target(root, `tsc -p tsconfig.json`, { inputs: ["default", "^default"] });
    targets.lint = target(root, `eslint .`, {
      inputs: ["default", "^default", "{workspaceRoot}/eslint.config.js"],
    });
    targets.test = target(root, `node ${up}/tools/nx/jest.js`, {
      inputs: ["default", "^default", "{workspaceRoot}/jest.config.js", "{workspaceRoot}/tools/nx/jest.js"],
      outputs: [`{workspaceRoot}/reports/${reportName(root)}`],
    });
  }
  if (root.startsWith("apps/") && has("src/main.ts")) {
    targets.build = target(root, `node ${up}/tools/nx/bundle.js`, {
      inputs: ["default", "^default", "{workspaceRoot}/tools/nx/bundle.js"],
      outputs: [`{workspaceRoot}/dist/${root}`],
    });
  }
  return { [root]: { root, name: manifest.name, targets } };
}

function target(cwd, command, rest) {
  return { executor: "nx:run-commands", cache: true, options: { command, cwd }, ...rest };
}

/** reports/<this> holds Jest's JSON of the project at `root`. */
export function reportName(root) {
  return `${root.replaceAll("/", "-")}.json`;
}
