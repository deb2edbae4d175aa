// SPDX-License-Identifier: Apache-2.0
/**
 * createProgress prints a line at the start and the end of each step, and every two seconds in between.
 * Usage: `await createProgress().during("unpack Debian packages", () => runScript(script))`
 */

export interface Progress {
  /** Prints one line. */
  say(line: string): void;
  /** Prints the start of `what`, its duration every two seconds, and its end. */
  during<T>(what: string, act: () => Promise<T>): Promise<T>;
}

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly nowMs: () => number;
  readonly everyMs: number;
}

/** Prints to stderr, because stdout belongs to the job. */
export function createProgress(options: Partial<ProgressOptions> = {}): Progress {
  const {
    write = (text: string) => process.stderr.write(text),
    nowMs = () => performance.now(),
    everyMs = 2000,
  } = options;

  function say(line: string): void {
    write(`[vm-lab] ${line}\n`);
  }

  return {
    say,
    async during(what, act) {
      const startMs = nowMs();
      const seconds = () => ((nowMs() - startMs) / 1000).toFixed(1);
      say(`${what} ...`);
      const beat = setInterval(() => {
        say(`${what} ... ${seconds()} s`);
      }, everyMs);
      try {
        const result = await act();
        say(`${what}: done in ${seconds()} s`);
        return result;
      } finally {
        clearInterval(beat);
      }
    },
  };
}
