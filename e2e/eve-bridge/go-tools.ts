// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of go/: the stock CNI plugins, `cnitool`, and our judge and wiretap. Built once for each content of that
 * directory, in the cache of this user.
 * Usage: `const bin = await buildGoTools(); run(join(bin, "cnitool"), …)`.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "./errno.ts";
import { run } from "./shell.ts";

const sources = join(__dirname, "go");

/** The directory with the programs. */
export async function buildGoTools(): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard/cni");
  const built = join(cache, await contentKey());
  if (existsSync(built)) return built;

  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, ".building-"));
  process.stderr.write("[eve-bridge] building the CNI plugins with Go ...\n");
  const args = ["build", "-C", sources, "-trimpath", "-ldflags=-s -w", "-o", `${draft}/`, "tool", "./..."];
  const { status, stderr } = await run("go", args, { env: { ...process.env, CGO_ENABLED: "0" } });
  try {
    if (status !== 0) throw new Error(`go build: ${stderr}`);
    await renameUnlessThere(draft, built);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return built;
}

async function contentKey(): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${file.slice(sources.length)}\0`).update(await readFile(file));
  return hash.digest("hex").slice(0, 12);
}

/** Another test file may have built it meanwhile. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}
