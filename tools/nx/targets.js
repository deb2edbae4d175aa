// SPDX-License-Identifier: Apache-2.0
/**
 * The targets of every project, inferred from its files (Nx createNodesV2), so that no project repeats them:
 * - `test` for projects with a folder src; types and lint are checked for the whole workspace at once (`npm run check`);
 * - `build` for apps with a src/main.ts, by the app's own bundle.js if it has one;
 * - for e2e, `test-<folder>` for each folder of e2e/integration, `test-src` for e2e/src, and `test` that runs them all.
 * - for e2e, `vm-smoke`, which runs the smoke test of the VM lab.
 * A test target writes Jest's results to reports/<name>.json, which is an output of the target: the tests of a cached run
 * are counted, too.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { integrationInputs, testInputs } from "./integration-targets.js";

export const name = "switchyard-targets";

export const createNodesV2 = [
  "{apps,libs,tools,e2e}/**/package.json",
  (files, _options, { workspaceRoot }) => {
    const manifests = Object.fromEntries(
      files.map((file) => [dirname(file), JSON.parse(readFileSync(join(workspaceRoot, file), "utf8"))]),
    );
    return files.map((file) => [file, { projects: projectsOf(dirname(file), workspaceRoot, manifests) }]);
  },
];

function projectsOf(root, workspaceRoot, manifests) {
  const has = (file) => existsSync(join(workspaceRoot, root, file));
  const targets = {};
  const up = root
    .split("/")
    .map(() => "..")
    .join("/");
  const test = (folder, inputs) =>
    target(root, [`node ${up}/tools/nx/jest.js`, ...(folder === "" ? [] : ["--folder", folder])].join(" "), {
      inputs: [...inputs, "tooling", "jest"],
      outputs: [`{workspaceRoot}/reports/${reportName(join(root, folder))}`],
    });

  if (has("src")) targets.test = test("", ["default", "^default"]);
  const integration = integrationInputs(root, workspaceRoot, manifests);
  if (integration.length > 0) {
    targets["test-src"] = test("src", ["{projectRoot}/src/**/*", "^default"]);
    for (const { name: folder, inputs } of integration) {
      targets[`test-${folder}`] = test(`integration/${folder}`, inputs);
    }
    targets["vm-smoke"] = target(root, `node ${up}/tools/run/run.mjs e2e vm/smoke`, {
      inputs: [
        ...testInputs(join(root, "vm/smoke.test.ts"), workspaceRoot, manifests),
        "tooling",
        "jest",
        "{projectRoot}/jest.config.js",
      ],
    });
    const dependsOn = Object.keys(targets).filter((target) => target.startsWith("test-"));
    targets.test = { executor: "nx:noop", dependsOn };
  }
  if (root.startsWith("apps/") && has("src/main.ts")) {
    const copied = Object.values(manifests[root].bundledDirectories ?? {}).map(
      (from) => `{workspaceRoot}/${join(root, from)}/**/*`,
    );
    targets.build = target(root, has("bundle.js") ? "node bundle.js" : `node ${up}/tools/nx/bundle.js`, {
      inputs: [
        "default",
        "^default",
        "{workspaceRoot}/tools/nx/bundle.js",
        "{workspaceRoot}/tools/nx/builtin-modules.js",
        "{workspaceRoot}/tools/nx/lean-packages.js",
        "{workspaceRoot}/tools/nx/third-party.js",
        ...copied,
      ],
      outputs: [`{workspaceRoot}/dist/${root}`],
    });
  }
  return { [root]: { root, name: manifests[root].name, targets } };
}

function target(cwd, command, rest) {
  return { executor: "nx:run-commands", cache: true, options: { command, cwd }, ...rest };
}

/** The file in reports/ with Jest's results for the tests in `folder`, a path from the workspace. */
export function reportName(folder) {
  return `${folder.replaceAll("/", "-")}.json`;
}
