// SPDX-License-Identifier: Apache-2.0
/**
 * withProgress reports the progress of long work every two seconds, so that it does not look like a hang.
 * Usage: `await withProgress("building etcd", { write: writeToStderr }, () => build())`.
 */

/** Writes one line, which has no newline at its end. */
export type WriteLine = (line: string) => void;

export interface ProgressOptions {
  readonly write: WriteLine;
  /** Returns the latest detail, if there is one. */
  readonly detail?: () => string | undefined;
  readonly everyMs?: number;
  readonly nowMs?: () => number;
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
