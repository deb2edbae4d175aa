// SPDX-License-Identifier: Apache-2.0
/**
 * createFreeSince remembers since when things that a device plugin has left are free. The kubelet lists the device of a new pod within
 * a second, after the plugin has prepared it, so something is removed only if it was free some time before, too.
 * Usage: `const free = createFreeSince(nowMs); free.beginLook(); if (free.reasonToKeep("eth0", "7") === undefined) …`.
 */

export interface FreeSince {
  /** What the look that begins does not find free is not free since the last one. */
  beginLook(): void;
  /** Called for what is free now. Returns why it stays for now. The time begins again if `content` has changed. */
  reasonToKeep(key: string, content: string): string | undefined;
}

/** Time for which something must have been free. */
export const settlingMs = 10_000;
/** Why something free stays for this time. */
export const freeNow = "free, but not long enough to be certain";

export function createFreeSince(nowMs: () => number): FreeSince {
  let before = new Map<string, { readonly sinceMs: number; readonly content: string }>();
  let now: typeof before = new Map();
  return {
    beginLook() {
      before = now;
      now = new Map();
    },
    reasonToKeep(key, content) {
      const earlier = before.get(key);
      const since = earlier?.content === content ? earlier : { sinceMs: nowMs(), content };
      now.set(key, since);
      return nowMs() - since.sinceMs < settlingMs ? freeNow : undefined;
    },
  };
}
