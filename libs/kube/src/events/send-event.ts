// SPDX-License-Identifier: Apache-2.0
/**
 * Brings one Event to the API server: creates it, or writes how often it was seen by now.
 * Usage: `const sent = await sendEvent(transport, { body, count, lastTime, written: 0 }, limits)`.
 */
import type { EventBody } from "./event-object.ts";
import { eventType } from "./event-object.ts";
import { isKubeError } from "../http/kube-error.ts";
import { collectionPath, objectPath } from "../http/resource-path.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

/** What is known of an Event here, and how much of that the server has. */
export interface EventState {
  readonly body: EventBody;
  readonly count: number;
  /** RFC 3339 with microseconds. */
  readonly lastTime: string;
  /** The count that the server has; 0 before it has the Event. */
  readonly written: number;
}

/** The count that the server has then. Can be repeated after a failure. Rejects with KubeError. */
export async function sendEvent(
  transport: Transport,
  { body, count, lastTime, written }: EventState,
  limits: Pick<TransportRequest, "signal" | "timeoutMs">,
): Promise<number> {
  const series = { count, lastObservedTime: lastTime };
  const create = { method: "POST", path: collectionPath(eventType, body.metadata.namespace), ...limits } as const;
  try {
    if (written === 0) await transport.request({ ...create, body: count > 1 ? { ...body, series } : body });
    else await transport.request({ ...patchOf(body), body: { series }, ...limits });
    return count;
  } catch (error) {
    // An earlier try made it, but its answer was lost.
    if (written === 0 && isKubeError(error, "AlreadyExists")) return 1;
    // The server forgets Events after an hour.
    if (written > 0 && isKubeError(error, "NotFound")) return 0;
    throw error;
  }
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { code, status = 0 } = error;
  return code === "ConnectionLost" || code === "Timeout" || status === 429 || status >= 500;
}

function patchOf({ metadata }: EventBody) {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", path: objectPath(eventType, metadata), contentType } as const;
}
