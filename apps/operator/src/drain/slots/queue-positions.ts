// SPDX-License-Identifier: Apache-2.0
/**
 * What each waiting node waits for, from who decides on turns to who tells people. A derived thing: made anew by each
 * decision, and from nothing after a start.
 * Usage: `places.publish(plan.places); … places.get("worker-1")`.
 */
import { equalJson, type Source } from "@switchyard/kube";
import type { Place } from "./plan-drains.ts";

export interface QueuePositions {
  get(node: string): Place | undefined;
  /** Replaces all of them. */
  publish(places: ReadonlyMap<string, Place>): void;
  /** Names of nodes whose place changes. */
  readonly source: Source;
}

export function createQueuePositions(): QueuePositions {
  let current: ReadonlyMap<string, Place> = new Map();
  const listeners = new Set<(node: string) => void>();

  return {
    get: (node) => current.get(node),
    publish(places) {
      const before = current;
      current = places;
      for (const [node, place] of places) {
        if (equalJson(before.get(node), place)) continue;
        for (const listener of listeners) listener(node);
      }
    },
    source: {
      start(enqueue) {
        listeners.add(enqueue);
        return () => listeners.delete(enqueue);
      },
      whenSynced: () => Promise.resolve(), // The first decision tells of all.
    },
  };
}
