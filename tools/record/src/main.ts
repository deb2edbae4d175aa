// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the demo and stores what it printed: the block of text in docs/guide/demo.md and, without arguments, the excerpt in
 * README.md and the recording docs/images/demo.svg.
 * Usage: `node tools/record/src/main.ts`, `node tools/record/src/main.ts --vm`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, renderSvg } from "./recording.ts";
import { excerptOf, replaceBlock } from "./readme.ts";

const root = join(import.meta.dirname, "../../..");
const guide = join(root, "docs/guide/demo.md");
const readme = join(root, "README.md");
const image = join(root, "docs/images/demo.svg");

const args = process.argv.slice(2);
const name = ["npm run demo", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");

const demo = join(root, "tools/demo/src/main.ts");
const { lines, exitCode } = await capture(process.execPath, ["--disable-warning=ExperimentalWarning", demo, ...args]);
if (exitCode !== 0) {
  console.error(`${name} ended with exit status ${exitCode}; nothing is stored`);
  process.exit(1);
}

const printed = lines.map(({ text }) => text.trimEnd());
replaceIn(guide, printed);
if (args.length === 0) {
  replaceIn(readme, excerptOf(printed));
  writeFileSync(image, renderSvg(lines, { title: name, rows: 28, columns: 128 }));
}

function replaceIn(document: string, content: readonly string[]): void {
  writeFileSync(document, replaceBlock(readFileSync(document, "utf8"), name, content.join("\n")));
}
