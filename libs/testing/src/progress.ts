// SPDX-License-Identifier: Apache-2.0
/**
 * createProgress prints the current step of long work, every two seconds, so that it does not look like a hang.
 * Usage: `await createProgress({ name: "images" }).during("building", () => build());`
 */

/** Writes one line, which has no newline at its end. */
export type WriteLine = (line: string) => void;

/** Disposing it ends the current step. */
export interface Progress extends Disposable {
  /** Prints one line. */
  say(line: string): void;
  /** Begins a step: prints it at once, then its duration and `detail` until the next step. */
  at(step: string, detail?: () => string | undefined): void;
  /** Prints the step, its duration and `detail` until `act` ends, and how long it took if it succeeds. */
  during<T>(step: string, act: () => Promise<T>, detail?: () => string | undefined): Promise<T>;
}

export interface ProgressOptions {
  /** Printed in brackets before each line. */
  readonly name?: string;
  /** To stderr by default, because stdout belongs to the result. */
  readonly write?: WriteLine;
  readonly everyMs?: number;
  readonly nowMs?: () => number;
}

export function createProgress(options: ProgressOptions = {}): Progress {
  const { name, write = writeToStderr, everyMs = 2_000, nowMs = () => performance.now() } = options;
  let end = (): number => 0;

  function say(line: string): void {
    write(name === undefined ? line : `[${name}] ${line}`);
  }

  /** Returns a function that stops the lines and returns the seconds since the start. */
  function start(step: string, detail?: () => string | undefined): () => number {
    const startMs = nowMs();
    const seconds = () => (nowMs() - startMs) / 1000;
    say(step);
    const timer = setInterval(() => {
      const now = detail?.();
      say(`${step}: ${seconds().toFixed(0)} s${now === undefined || now === "" ? "" : `, ${now}`}`);
    }, everyMs);
    return () => {
      clearInterval(timer);
      return seconds();
    };
  }

  return {
    say,
    at(step, detail) {
      end();
      end = start(step, detail);
    },
    async during(step, act, detail) {
      const endStep = start(step, detail);
      try {
        const result = await act();
        say(`${step}: done in ${endStep().toFixed(1)} s`);
        return result;
      } finally {
        endStep();
      }
    },
    [Symbol.dispose]() {
      end();
    },
  };
}

/** Writes the line to stderr. */
export function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
