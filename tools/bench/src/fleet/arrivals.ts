// SPDX-License-Identifier: Apache-2.0
/**
 * When each node's spec arrived, as a daemon that watches its node state would see it. Keeps two numbers for each
 * object, so the harness stays small beside what it measures. Pure but for the time that it is told.
 * Usage: `arrivals.begin(); …; arrivals.saw({ namespace, name, generation }, performance.now()); arrivals.of("switchyard")`
 */

/** What a watch event says of an object. */
export interface SeenObject {
  readonly namespace: string;
  readonly name: string;
  /** Moves with the spec alone, not with metadata or status. */
  readonly generation: number;
}

/** What came to a namespace since `begin`. Times as told to `saw`. */
export interface Arrived {
  /** Objects whose spec is new or another. */
  readonly objects: number;
  /** Changes of a spec; more than `objects` where one was written more than once. */
  readonly changes: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Arrivals {
  /** Forgets what came; generations are remembered. */
  begin(): void;
  saw(object: SeenObject, nowMs: number): void;
  /** The object is gone; another one of its name is a new one. */
  lost(object: Pick<SeenObject, "namespace" | "name">): void;
  /** Undefined before the first arrival. */
  of(namespace: string): Arrived | undefined;
}

export function createArrivals(): Arrivals {
  const generations = new Map<string, number>();
  const since = new Map<string, { names: Set<string>; changes: number; firstMs: number; lastMs: number }>();

  return {
    begin() {
      since.clear();
    },
    saw({ namespace, name, generation }, nowMs) {
      const key = `${namespace}/${name}`;
      if (generations.get(key) === generation) return;
      generations.set(key, generation);
      const arrived = since.get(namespace) ?? { names: new Set(), changes: 0, firstMs: nowMs, lastMs: nowMs };
      arrived.names.add(name);
      arrived.changes += 1;
      arrived.lastMs = nowMs;
      since.set(namespace, arrived);
    },
    lost({ namespace, name }) {
      generations.delete(`${namespace}/${name}`);
    },
    of(namespace) {
      const arrived = since.get(namespace);
      if (arrived === undefined) return undefined;
      const { names, changes, firstMs, lastMs } = arrived;
      return { objects: names.size, changes, firstMs, lastMs };
    },
  };
}
