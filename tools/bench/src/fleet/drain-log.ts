// SPDX-License-Identifier: Apache-2.0
/** DrainLog computes the figures of many concurrent drains from the watch events of the node states. Pure. */

export interface DrainWave {
  readonly nodes: number;
  /** The number of nodes that the pool allows to drain at once. */
  readonly limit: number;
  /** The largest number of nodes that drained at once. */
  readonly peak: number;
  /** The number of started drains; more than `nodes` if a node was drained twice. */
  readonly starts: number;
  /** The longest time between the end of a drain and the start of the next; 0 if no node had to wait. */
  readonly longestGapSeconds: number;
  readonly allSeconds: number;
  /** CPU time of the operator. */
  readonly cpuSeconds: number;
}

export interface SeenState {
  readonly name: string;
  readonly desired: string;
  readonly current: string;
}

export interface DrainLog {
  /** Records a state. Returns "drained" if the node's daemon may start its work now. */
  saw(state: SeenState, nowMs: number): "drained" | undefined;
  /** Records that a daemon is about to request Idle. */
  freed(nowMs: number): void;
  /** Number of nodes whose drain is complete. */
  readonly ended: number;
  /** Number of nodes that are draining or drained. */
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
      // The first `limit` drains found free slots; each later drain took the next slot that became free.
      const gaps = starts.slice(limit).map((startMs, index) => startMs - (freed[index] ?? startMs));
      const longestGapSeconds = Math.max(0, ...gaps) / 1000;
      return { limit, peak, starts: starts.length, longestGapSeconds, allSeconds, cpuSeconds };
    },
  };
}
