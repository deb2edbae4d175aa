// SPDX-License-Identifier: Apache-2.0
/**
 * Lines that show a person that the lab is alive: at each step's start and end, and every two seconds between.
 * Usage: `await progress.during("rootfs: unpack Debian packages", () => runScript(...))`
 */

export interface Progress {
  /** One line. */
  say(line: string): void;
  /** Says `what` at once, then every two seconds how long it takes, then that it is done. */
  during<T>(what: string, act: () => Promise<T>): Promise<T>;
}

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly nowMs: () => number;
  readonly everyMs: number;
}

/** Lines on stderr, so that stdout is the job's alone. */
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
