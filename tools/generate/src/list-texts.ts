// SPDX-License-Identifier: Apache-2.0
/**
 * Prints every text that users read with its file and line, grouped by kind, so that a reviewer can read them in one go.
 * Usage: `node tools/generate/src/list-texts.ts`, or with kinds: `node tools/generate/src/list-texts.ts help condition`.
 */
import { join } from "node:path";
import { collectTexts } from "./texts.ts";

const root = join(import.meta.dirname, "../../..");
const kinds = process.argv.slice(2);
const texts = collectTexts(root).filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
for (const [kind, group] of Object.entries(Object.groupBy(texts, (text) => text.kind)).toSorted()) {
  console.log(`\n== ${kind}: ${group.length}`);
  for (const { file, line, text } of group) console.log(`${file}:${line}: ${text}`);
}
