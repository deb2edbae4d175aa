// SPDX-License-Identifier: Apache-2.0
/** Progress prints the current step of a long run, at least every two seconds. */
import { writeToStderr, type WriteLine } from "@switchyard/testing";

export interface Progress extends Disposable {
  /** Begins a step: prints it at once, then repeatedly with `detail` until the next step. */
  at(step: string, detail?: () => string): void;
}

export interface ProgressOptions {
  readonly write?: WriteLine;
  readonly everyMs?: number;
}

/** Starts to print. Disposing it stops that. */
export function startProgress({ write = writeToStderr, everyMs = 1_900 }: ProgressOptions = {}): Progress {
  let step = "";
  let detail: (() => string) | undefined;
  let sinceMs = 0;
  const timer = setInterval(() => {
    if (step === "") return;
    const seconds = ((performance.now() - sinceMs) / 1000).toFixed(0);
    write(`${step}: ${seconds} s${detail === undefined ? "" : `, ${detail()}`}`);
  }, everyMs);
  return {
    at(nextStep, nextDetail) {
      step = nextStep;
      detail = nextDetail;
      sinceMs = performance.now();
      write(step);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
