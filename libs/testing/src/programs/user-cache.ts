// SPDX-License-Identifier: Apache-2.0
/**
 * The user's cache, outside of the checkout, for what takes long to build or to download. A directory in it is complete, because it
 * is made under another name and renamed; its name says what it was made from.
 * Usage: `const directory = await cachedDirectory(join("cni", hash), async (draft) => { await build(draft); })`
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/**
 * withProgress reports the progress of long work every two seconds, so that it does not look like a hang.
 * Writes one line, which has no newline at its end.
 */
export type WriteLine = (line: string) => void;

interface ProgressOptions {
  readonly write: WriteLine;
  /** Returns the latest detail, if there is one. */
  readonly detail?: () => string | undefined;
  readonly everyMs?: number;
  readonly nowMs?: () => number;
}

/** Returns the path `name` in the cache, which is below XDG_CACHE_HOME or ~/.cache. */
export function cachePath(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "switchyard", name);
}

/** Returns the directory `name` of the cache. If it does not exist, `make` gets an empty directory that becomes it. */
export async function cachedDirectory(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const directory = cachePath(name);
  if (existsSync(directory)) return directory;
  await mkdir(dirname(directory), { recursive: true });
  const draft = await mkdtemp(join(dirname(directory), ".making-"));
  try {
    await chmod(draft, 0o755);
    await make(draft);
    await rename(draft, directory).catch((error: unknown) => {
      if (!existsSync(directory)) throw error; // otherwise another process has made it meanwhile
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return directory;
}

/** Runs `work` and writes lines such as "building etcd: 12 s (go: downloading …)". Work of less than 2 s writes one line. */
export async function withProgress<T>(what: string, options: ProgressOptions, work: () => Promise<T>): Promise<T> {
  const { write, detail, everyMs = 2_000, nowMs = () => performance.now() } = options;
  const startMs = nowMs();
  write(what);
  const timer = setInterval(() => {
    const now = detail?.();
    write(`${what}: ${Math.round((nowMs() - startMs) / 1000)} s${now === undefined ? "" : ` (${now})`}`);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Writes the line to stderr. */
export function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
