// SPDX-License-Identifier: Apache-2.0
/**
 * describeWait says for how long the kernel has not answered. The text changes rarely, because each change is a write of
 * the node's status. It is a pure function.
 * Usage: `describeWait(ageMs, since).text` is "no answer from the kernel for 5 min, since 2026-11-20T12:00:00Z".
 */

export interface Wait {
  readonly text: string;
  /** Milliseconds until the text changes. */
  readonly nextChangeMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Ages at which the text changes. After the first hour it changes every hour. */
const marksMs = [2, 5, 10, 30].map((minutes) => minutes * minuteMs);

export function describeWait(ageMs: number, since: Date): Wait {
  const hours = Math.floor(ageMs / hourMs);
  const mark = hours > 0 ? hours * hourMs : marksMs.findLast((each) => each <= ageMs);
  const next = hours > 0 ? (hours + 1) * hourMs : (marksMs.find((each) => each > ageMs) ?? hourMs);
  const from = `since ${since.toISOString().slice(0, 19)}Z`;
  return {
    text: `no answer from the kernel ${mark === undefined ? "" : `for ${durationOf(mark)}, `}${from}`,
    nextChangeMs: next - ageMs,
  };
}

function durationOf(ms: number): string {
  return ms >= hourMs ? `${ms / hourMs} h` : `${ms / minuteMs} min`;
}
