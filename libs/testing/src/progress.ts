// SPDX-License-Identifier: Apache-2.0
/**
 * Says every two seconds what long work is at: minutes of silence look like a hang.
 * Usage: `await withProgress("building etcd", { write }, () => build())`
 */

/** Takes one line for a person, without its newline. */
export type WriteLine = (line: string) => void;

export interface ProgressOptions {
  readonly write: WriteLine;
  /** Latest detail, if the work has one to tell. */
  readonly detail?: () => string | undefined;
  readonly everyMs?: number;
  readonly nowMs?: () => number;
}

/** Does `work`; meanwhile lines as "building etcd: 12 s (go: downloading …)". Work of less than two seconds shows one line. */
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

/** To stderr. */
export function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
