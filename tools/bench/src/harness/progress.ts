// SPDX-License-Identifier: Apache-2.0
/**
 * What a long run is at, told at least every two seconds.
 * Usage: `using progress = startProgress(); progress.at("first policy", () => "512 of 1000 nodes")`
 */
import { writeToStderr, type WriteLine } from "@switchyard/testing";

export interface Progress extends Disposable {
  /** Begins a stage: told at once, then with `detail` until the next one. */
  at(stage: string, detail?: () => string): void;
}

export interface ProgressOptions {
  readonly write?: WriteLine;
  readonly everyMs?: number;
}

/** Disposing it ends the lines. */
export function startProgress({ write = writeToStderr, everyMs = 1_900 }: ProgressOptions = {}): Progress {
  let stage = "";
  let detail: (() => string) | undefined;
  let sinceMs = 0;
  const timer = setInterval(() => {
    if (stage === "") return;
    const seconds = ((performance.now() - sinceMs) / 1000).toFixed(0);
    write(`${stage}: ${seconds} s${detail === undefined ? "" : `, ${detail()}`}`);
  }, everyMs);
  return {
    at(nextStage, nextDetail) {
      stage = nextStage;
      detail = nextDetail;
      sinceMs = performance.now();
      write(stage);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
