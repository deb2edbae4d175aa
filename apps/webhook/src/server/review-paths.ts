// SPDX-License-Identifier: Apache-2.0
/**
 * followReviewPaths reads the secret paths at which reviews are answered from a file that the operator writes and the kubelet replaces.
 * A secret path that was accepted once stays so while the process runs, because API servers and replicas see a new one at different times.
 * Usage: `await using paths = await followReviewPaths({ file, intervalMs: 2_000 }); paths.accepts("");`.
 */
import { isReviewPath, openPath, parseReviewPaths } from "@switchyard/certificates";
import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";

export interface ReviewPaths extends AsyncDisposable {
  /** `path` has no slashes; it is empty for a request without a secret path. */
  readonly accepts: (path: string) => boolean;
}

/** Number of secret paths that are remembered. A new one comes every two months. */
const maxRemembered = 4;

export interface ReviewPathsOptions {
  readonly file: string;
  /** Counts instead of the file. A text that is no secret path is ignored. */
  readonly secretPath?: string | undefined;
  readonly intervalMs: number;
  readonly nowMs?: () => number;
}

/** Reads the file until disposed. Without a file, only requests without a secret path are accepted. */
export async function followReviewPaths({
  file,
  secretPath,
  intervalMs,
  nowMs,
}: ReviewPathsOptions): Promise<ReviewPaths> {
  if (secretPath !== undefined && isReviewPath(secretPath)) return fixedPath(secretPath, nowMs);
  let secrets: readonly string[] = [];
  let isOpen = true;

  async function read(): Promise<void> {
    const text = await readFile(file, "utf8").catch(() => undefined);
    const paths = text === undefined ? [openPath] : parseReviewPaths(text);
    isOpen = paths.includes(openPath);
    const known = [...paths.filter((path) => path !== openPath), ...secrets];
    secrets = [...new Set(known)].slice(0, maxRemembered);
  }

  await read();
  let reading = Promise.resolve();
  const timer = setInterval(() => {
    reading = reading.then(read);
  }, intervalMs);
  return {
    accepts: (path) => (path === openPath ? isOpen : secrets.some((secret) => isEqual(secret, path))),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await reading;
    },
  };
}

/** API servers see a registration at different times. */
const settleMs = 60_000;

/**
 * The path that the operator registers once all pods know it. Until an API server calls it, requests without a secret path are accepted,
 * too: nobody else can know it.
 */
function fixedPath(secretPath: string, nowMs = () => performance.now()): ReviewPaths {
  let closesAtMs = Infinity;
  return {
    accepts(path) {
      if (path === openPath) return nowMs() < closesAtMs;
      const isSecret = isEqual(secretPath, path);
      if (isSecret) closesAtMs = Math.min(closesAtMs, nowMs() + settleMs);
      return isSecret;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Takes the same time wherever the texts differ. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
