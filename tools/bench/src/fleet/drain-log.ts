// SPDX-License-Identifier: Apache-2.0
/**
 * What a wave of drains was like, from the states as the API server tells of them, one after the other. Pure.
 * Usage: `const log = createDrainLog(10); log.saw({ name, desired, current }, performance.now()); log.result(12, 0.4)`
 */

export interface DrainWave {
  readonly nodes: number;
  /** How many the pool lets be drained at once. */
  readonly limit: number;
  /** The most that were, at any instant. */
  readonly peak: number;
  /** How often a drain began: more than the nodes where one was drained twice. */
  readonly starts: number;
  /** The longest time from a daemon's being idle to the next drain's begin; 0 where no node had to wait. */
  readonly longestGapSeconds: number;
  readonly allSeconds: number;
  /** Of the operator. */
  readonly cpuSeconds: number;
}

export interface SeenState {
  readonly name: string;
  readonly desired: string;
  readonly current: string;
}

export interface DrainLog {
  /** "drained" when the node's daemon may work now. */
  saw(state: SeenState, nowMs: number): "drained" | undefined;
  /** A daemon is about to say that it is idle. */
  freed(nowMs: number): void;
  /** Nodes that were drained and are idle again. */
  readonly ended: number;
  /** Nodes that are being drained, or are drained. */
  readonly busy: number;
  result(allSeconds: number, cpuSeconds: number): Omit<DrainWave, "nodes">;
}

export function createDrainLog(limit: number): DrainLog {
  const current = new Map<string, string>();
  const ended = new Set<string>();
  const starts: number[] = [];
  const freed: number[] = [];
  let busy = 0;
  let peak = 0;

  return {
    get ended() {
      return ended.size;
    },
    get busy() {
      return busy;
    },
    saw(state, nowMs) {
      const before = current.get(state.name) ?? "Idle";
      if (before === state.current) return undefined;
      current.set(state.name, state.current);
      busy += Number(state.current !== "Idle") - Number(before !== "Idle");
      peak = Math.max(peak, busy);
      if (before === "Idle") starts.push(nowMs);
      if (state.current === "Idle") ended.add(state.name);
      return state.current === "DrainComplete" && state.desired !== "Idle" ? "drained" : undefined;
    },
    freed(nowMs) {
      freed.push(nowMs);
    },
    result(allSeconds, cpuSeconds) {
      // The first so many found free slots; each later one took the next that was freed.
      const gaps = starts.slice(limit).map((startMs, index) => startMs - (freed[index] ?? startMs));
      const longestGapSeconds = Math.max(0, ...gaps) / 1000;
      return { limit, peak, starts: starts.length, longestGapSeconds, allSeconds, cpuSeconds };
    },
  };
}
