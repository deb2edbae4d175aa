// SPDX-License-Identifier: Apache-2.0
/**
 * layOutCapture creates files and links from a capture of sysfs on a real machine (testdata/ORIGIN.md), for tests of adapters.
 * Writes change the files only, because there is no kernel behind them.
 */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Creates the captured files, directories and links in `root`/sys. Counters and queues are left out. */
export async function layOutCapture(path: string, root: string): Promise<void> {
  const capture = parse(gunzipSync(await readFile(path)).toString("utf8"));
  for (const directory of capture.directories) await mkdir(join(root, directory), { recursive: true });
  for (const [file, lines] of capture.files) {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await writeFile(join(root, file), lines.map((line) => `${line}\n`).join(""));
  }
  for (const [link, target] of capture.links) {
    await mkdir(join(root, dirname(link)), { recursive: true });
    await symlink(target, join(root, link));
  }
}

interface Capture {
  readonly directories: ReadonlySet<string>;
  /** Lines of each file. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  readonly links: ReadonlyMap<string, string>;
}

function parse(text: string): Capture {
  const directories = new Set<string>();
  const files = new Map<string, string[]>();
  const links = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, directory] = /^D (\/.+)$/.exec(line) ?? [];
    const [, file] = /^F \d+ \d+ (\/.+)$/.exec(line) ?? [];
    const [, link, target] = /^L (\/.+) -> (.+)$/.exec(line) ?? [];
    if (directory !== undefined && !isNoise(directory)) directories.add(directory);
    if (file !== undefined && !isNoise(file)) files.set(file, []);
    if (link !== undefined && target !== undefined && !isNoise(link)) links.set(link, target);
    const [path, value] = splitAtFile(line, files);
    files.get(path)?.push(value);
  }
  return { directories, files, links };
}

/** Splits "path:value". Paths contain colons, too, but all paths are known. */
function splitAtFile(line: string, files: ReadonlyMap<string, unknown>): readonly [path: string, value: string] {
  for (let at = line.indexOf(":"); at >= 0; at = line.indexOf(":", at + 1))
    if (files.has(line.slice(0, at))) return [line.slice(0, at), line.slice(at + 1)];
  return ["", ""];
}

function isNoise(path: string): boolean {
  return /\/(?:queues|statistics|power|msi_irqs|ptp|wakeup|link|iommu)\b|\/aer_/.test(path);
}
