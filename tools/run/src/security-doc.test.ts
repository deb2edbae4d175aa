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
