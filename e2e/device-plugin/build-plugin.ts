// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of go/: the real device plugin, `sriovdp`, of the version that upstream's operator is made for, and what it
 * sees of a kubelet. Built once for each content of that directory, in the cache of this user.
 * Usage: `const bin = await buildPlugin(); run(join(bin, "sriovdp"), …)`.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../eve-bridge/errno.ts";
import { run } from "../eve-bridge/shell.ts";

const sources = join(__dirname, "go");

/** The directory with the programs. Rejects where Go is missing or cannot build them. */
export async function buildPlugin(): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard/device-plugin");
  const built = join(cache, await contentKey());
  if (existsSync(built)) return built;

  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, ".building-"));
  process.stderr.write("[device-plugin] building the device plugin with Go ...\n");
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

/** Another test may have built it meanwhile. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}
