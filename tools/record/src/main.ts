// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the demo and stores what it printed: the block of text in docs/guide/demo.md and, without arguments, the recording
 * docs/images/demo.svg.
 * Usage: `node tools/record/src/main.ts`, `node tools/record/src/main.ts --vm`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture } from "./capture.ts";
import { renderSvg } from "./render-svg.ts";
import { replaceBlock } from "./replace-block.ts";

const root = join(import.meta.dirname, "../../..");
const guide = join(root, "docs/guide/demo.md");
const image = join(root, "docs/images/demo.svg");

const args = process.argv.slice(2);
const name = ["npm run demo", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");

const demo = join(root, "tools/demo/src/main.ts");
const { lines, exitCode } = await capture(process.execPath, ["--disable-warning=ExperimentalWarning", demo, ...args]);
if (exitCode !== 0) {
  console.error(`${name} ended with exit status ${exitCode}; nothing is stored`);
  process.exit(1);
}

const text = lines.map((line) => line.text.trimEnd()).join("\n");
writeFileSync(guide, replaceBlock(readFileSync(guide, "utf8"), name, text));
if (args.length === 0) writeFileSync(image, renderSvg(lines, { title: name, rows: 28, columns: 128 }));
