// SPDX-License-Identifier: Apache-2.0
/** docs/security.md names the test of each claim: these files exist, and have tests of these names. */
import { expect, it } from "@jest/globals";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** Where files are that are named without a folder. */
const defaultFolder = "e2e/integration";

interface Reference {
  readonly file: string;
  /** Beginnings of the names of tests: what follows "…" is left out. */
  readonly names: readonly string[];
}

/** `file`: "name", "name". */
function referencesIn(text: string): readonly Reference[] {
  const pattern = /`([\w./-]+\.test\.ts)`(?: \(without an API server\))?((?:[:,]?\s+"[^"]+")*)/g;
  return [...text.matchAll(pattern)].map(([, file = "", quoted = ""]) => ({
    file: file.includes("/") ? file : join(defaultFolder, file),
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
