// SPDX-License-Identifier: Apache-2.0
/**
 * sendEvent writes one Event to the API server: it creates the Event or updates its count.
 * Usage: `const sent = await sendEvent(transport, { body, count, lastTime, written: 0 }, limits)`.
 */
import { eventType, type EventBody } from "./render-event.ts";
import { isKubeError } from "../http/kube-error.ts";
import { collectionPath, objectPath } from "../http/resource-path.ts";
import { metadataOnly, type Transport, type TransportRequest } from "../http/transport.ts";

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
