// SPDX-License-Identifier: Apache-2.0
/** sendEvent writes one Event to the API server: it creates the Event or updates its count. */
import { isKubeError } from "../http/kube-error.ts";
import { collectionPath, metadataOnly, objectPath, type Transport, type TransportRequest } from "../http/transport.ts";
import { eventType, type EventBody } from "./render-event.ts";

/** An Event with its count here and on the server. */
export interface EventState {
  readonly body: EventBody;
  readonly count: number;
  /** Last occurrence: RFC 3339 with microseconds. */
  readonly lastTime: string;
  /** Count on the server; 0 if it does not have the Event. */
  readonly written: number;
}

/**
 * Returns the new count on the server; 0 if the server has deleted the Event. Can be repeated after a failure. Rejects
 * with KubeError.
 */
export async function sendEvent(
  transport: Transport,
  { body, count, lastTime, written }: EventState,
  limits: Pick<TransportRequest, "signal" | "timeoutMs">,
): Promise<number> {
  const series = { count, lastObservedTime: lastTime };
  const create = { method: "POST", path: collectionPath(eventType, body.metadata.namespace) } as const;
  const options = { accept: metadataOnly, ...limits };
  try {
    if (written === 0) await transport.request({ ...create, body: count > 1 ? { ...body, series } : body, ...options });
    else await transport.request({ ...patchOf(body), body: { series }, ...options });
    return count;
  } catch (error) {
    // An earlier request created it, but the response was lost.
    if (written === 0 && isKubeError(error, "AlreadyExists")) return 1;
    // The server deletes Events after an hour.
    if (written > 0 && isKubeError(error, "NotFound")) return 0;
    throw error;
  }
}

/** Reports whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { code, status = 0 } = error;
  return code === "ConnectionLost" || code === "Timeout" || status === 429 || status >= 500;
}

function patchOf({ metadata }: EventBody) {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", path: objectPath(eventType, metadata), contentType } as const;
}

interface EventBudgetOptions {
  /** Size of a bucket. */
  readonly burst: number;
  /** Time after which a bucket gets another token. */
  readonly refillMs: number;
  /** Number of buckets. Beyond it, the one that was not used for the longest time is dropped and starts full again. */
  readonly maxObjects: number;
  readonly nowMs: () => number;
}

export interface EventBudget {
  /** Takes a token for a write about this object and returns true, or returns false if the bucket is empty. */
  readonly take: (object: string) => boolean;
}

/** createEventBudget limits the writes for the events of each object by one token bucket per object. */
export function createEventBudget({ burst, refillMs, maxObjects, nowMs }: EventBudgetOptions): EventBudget {
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();

  return {
    take(object) {
      const atMs = nowMs();
      const before = buckets.get(object) ?? { tokens: burst, atMs };
      const tokens = Math.min(burst, before.tokens + (atMs - before.atMs) / refillMs);
      const isGranted = tokens >= 1;
      buckets.delete(object); // the order of the Map is the order of last use
      buckets.set(object, { tokens: isGranted ? tokens - 1 : tokens, atMs });
      const [oldest] = buckets.size > maxObjects ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      return isGranted;
    },
  };
}
