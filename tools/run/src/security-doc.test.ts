// SPDX-License-Identifier: Apache-2.0
/** docs/security.md names a test for each claim. These files exist and contain tests of these names. */
import { expect, it } from "@jest/globals";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** The tests that docs/security.md names without a folder: file name to path. */
const integrationTests = new Map(
  readdirSync(join(root, "e2e/integration"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => [basename(path), join("e2e/integration", path)]),
);

interface Reference {
  readonly file: string;
  /** Beginnings of test names, up to "…". */
  readonly names: readonly string[];
}

/** The references of the form `file`: "name", "name". */
function referencesIn(text: string): readonly Reference[] {
  const pattern = /`([\w./-]+\.test\.ts)`(?: \(without an API server\))?((?:[:,]?\s+"[^"]+")*)/g;
  return [...text.matchAll(pattern)].map(([, file = "", quoted = ""]) => ({
    file: integrationTests.get(file) ?? file,
    names: [...quoted.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => (name.split("…")[0] ?? "").trim()),
  }));
}

const references = referencesIn(readFileSync(join(root, "docs/security.md"), "utf8").replaceAll(/\s+/g, " "));

/** https://github.com/ossf/scorecard/blob/main/docs/checks.md, version 5. */
const scorecard =
  "Binary-Artifacts Branch-Protection CI-Tests CII-Best-Practices Code-Review Contributors Dangerous-Workflow Dependency-Update-Tool " +
  "Fuzzing License Maintained Packaging Pinned-Dependencies SAST SBOM Security-Policy Signed-Releases Token-Permissions Vulnerabilities Webhooks";

it("answers each check of Scorecard", () => {
  const [, section = ""] = readFileSync(join(root, "docs/security.md"), "utf8").split("\n## Supply chain\n");
  const rows = [...section.matchAll(/^\| ([A-Z][A-Za-z-]+) +\| (\S.*?) +\|$/gm)].map(([, check]) => check);
  expect(rows).toEqual(scorecard.split(" "));
});

it("has no workflow that runs code of a pull request with the rights of the repository, nor a floating action", () => {
  const folder = join(root, ".github/workflows");
  for (const file of readdirSync(folder)) {
    const workflow = readFileSync(join(folder, file), "utf8");
    expect([file, workflow.includes("pull_request_target")]).toEqual([file, false]);
    const actions = [...workflow.matchAll(/uses: ([^\s.]\S*)/g)].map(([, action = ""]) => action);
    expect([file, actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))]).toEqual([file, []]);
  }
});

it("runs no install script of a package, also in the jobs that sign", () => {
  expect(readFileSync(join(root, ".npmrc"), "utf8").split("\n")).toContain("ignore-scripts=true");
  for (const file of [".ci/run", "tools/run/run.mjs", ...readdirSync(join(root, ".github/workflows"))]) {
    const path = file.includes("/") ? file : `.github/workflows/${file}`;
    expect([path, /ignore-scripts[= ]false|npm rebuild/.test(readFileSync(join(root, path), "utf8"))]).toEqual([
      path,
      false,
    ]);
  }
});

it("finds references", () => {
  expect(references.length).toBeGreaterThan(20);
  expect(references.flatMap(({ names }) => names).length).toBeGreaterThan(12);
});

it.each(references)("$file has the tests $names", ({ file, names }) => {
  const path = join(root, file);
  expect([file, existsSync(path)]).toEqual([file, true]);
  const source = readFileSync(path, "utf8");
  expect(names.filter((name) => !source.includes(name))).toEqual([]);
});
