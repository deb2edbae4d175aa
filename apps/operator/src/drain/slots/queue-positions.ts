// SPDX-License-Identifier: Apache-2.0
/**
 * QueuePositions passes the position of each waiting node from the controller that assigns slots to the controller that
 * reports positions. It is kept in memory only and replaced by each decision.
 */
import { equalJson, type Source } from "@switchyard/kube";
import type { QueuePosition } from "./plan-drains.ts";

export interface QueuePositions {
  get(node: string): QueuePosition | undefined;
  /** Replaces all positions. */
  publish(positions: ReadonlyMap<string, QueuePosition>): void;
  /** Enqueues the names of nodes whose position changes. */
  readonly source: Source;
}

export function createQueuePositions(): QueuePositions {
  let current: ReadonlyMap<string, QueuePosition> = new Map();
  const listeners = new Set<(node: string) => void>();

  return {
    get: (node) => current.get(node),
    publish(positions) {
      const before = current;
      current = positions;
      for (const [node, position] of positions) {
        if (equalJson(before.get(node), position)) continue;
        for (const listener of listeners) listener(node);
      }
    },
    source: {
      start(enqueue) {
        listeners.add(enqueue);
        return () => listeners.delete(enqueue);
      },
      whenSynced: () => Promise.resolve(), // the first decision publishes all positions
    },
  };
}
