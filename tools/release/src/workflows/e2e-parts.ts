// SPDX-License-Identifier: Apache-2.0
/**
 * listParts lists the parts of `npm run e2e`, so that the nightly run has all of them.
 * Usage: `const parts = await listParts(root)`.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Verb } from "../verb.ts";

/** `npm test` runs these folders of e2e. */
const ofTest = ["integration", "src"];

/** Arguments of `npm run e2e`: the folders with tests; faults at every point. */
export async function listParts(root: string): Promise<readonly string[]> {
  const files = await readdir(join(root, "e2e"), { recursive: true });
  const tests = files.filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
  const folders = new Set(tests.map((file) => file.split("/")[0] ?? ""));
  const parts = [...folders].filter((folder) => !ofTest.includes(folder)).sort();
  return parts.map((part) => (part === "faults" ? "faults --all" : part));
}

export const e2eParts: Verb = {
  summary: "print the parts of npm run e2e, as JSON",
  operands: "",
  flags: {},
  run: async ({ root, print }) => {
    print(JSON.stringify(await listParts(root)));
  },
};
