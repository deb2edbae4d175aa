// SPDX-License-Identifier: Apache-2.0
/**
 * reflect keeps a sink in step with the API server: it lists all objects in pages and then watches from there. A watch
 * that ends continues at its last resourceVersion. If the server no longer has that version (410), all objects are listed
 * again, and objects that the list lacks were deleted. Lists are always paged, also after a failure, since an unpaged list
 * can be too large to succeed. The model is client-go's reflector.
 * Usage: `await reflect({ transport, type: nodes, sink: store, report, signal })`.
 */
import { backoffMs } from "../controller/backoff.ts";
import type { FailedWatch } from "./cache-age.ts";
import { sleep, systemClock, type Clock } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import type { ResourceType } from "../kube-object.ts";
import { linkAbort } from "../linked-abort.ts";
import { listPages } from "../http/list-pages.ts";
import type { ObjectSink } from "./object-store.ts";
import { collectionPath } from "../http/resource-path.ts";
import type { Transport, WatchEvent } from "../http/transport.ts";

export interface ReflectorOptions {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** All namespaces by default. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per page of a list; 500 by default. Use less for large objects, since a whole page is in memory. */
  readonly pageSize?: number | undefined;
  /**
   * Whether the CRD of the kind may be missing. If it is, the sink has no objects, and the server is asked again every 5 s.
   * By default this is a failure.
   */
  readonly optional?: boolean | undefined;
  readonly sink: ObjectSink;
  /** Called for each failure; the request is retried. An expired resourceVersion of a watch is not a failure. */
  readonly report: (error: unknown, at: FailedWatch) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** Resolves when the signal aborts. Never rejects. */
export async function reflect(options: ReflectorOptions): Promise<void> {
  const { transport, type, namespace, labelSelector, fieldSelector, pageSize = 500, sink, report, signal } = options;
  const { clock = systemClock, random = Math.random, optional = false } = options;
  const what = `watch ${type.plural}`;
  /** resourceVersion from which the watch continues; undefined when a list is needed. */
  let position: string | undefined;
  /** Failures since the last event or since a watch lasted longer than the pause before it. */
  let failures = 0;
  let lastPauseMs = 0;
  /** Whether the server has sent a bookmark. Then an accepted watch without events does not confirm the content. */
  let sendsBookmarks = false;

  while (!signal.aborted) {
    try {
      position ??= await list();
      await follow(position);
    } catch (error) {
      if (isAborted(signal)) return;
      if (optional && isKubeError(error, "NotFound")) {
        position = undefined;
        sink.notServed();
        sink.heard();
        await pause(notServedMs);
        continue;
      }
      failures++;
      const isExpired = isKubeError(error, "Expired", "Gone");
      if (!isExpired || position === undefined) report(error, { resource: type.plural, ageMs: sink.ageMs });
      if (isExpired || isKubeError(error, "UnexpectedResponse")) position = undefined;
      const atLeastMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
      await pause(Math.max(atLeastMs, backoffMs(failures, { baseMs: 500, maxMs: 15_000 }, random)));
    }
  }

  async function list(): Promise<string> {
    let resourceVersion = "";
    sink.beginList();
    const pages = listPages(transport, { type, namespace, labelSelector, fieldSelector, pageSize, signal });
    for await (const page of pages) {
      for (const item of page.items) sink.upsert(item);
      resourceVersion = page.resourceVersion;
    }
    sink.endList(resourceVersion);
    sink.heard();
    return resourceVersion;
  }

  /** Returns when the server ends the watch, as it does every few minutes, or when the watch is silent for too long. */
  async function follow(resourceVersion: string): Promise<void> {
    const timeoutSeconds = Math.floor(300 + random() * 300); // random, so that the watches of many nodes do not end together
    const query = { resourceVersion, timeoutSeconds, allowWatchBookmarks: true, labelSelector, fieldSelector };
    const path = collectionPath(type, namespace);
    const startMs = clock.nowMs();
    const silent = new KubeError(what, "Timeout", { words: `no event or bookmark for ${silenceMs} ms` });
    using abort = linkAbort(signal);
    let heard = false;
    let openedMs = Infinity;
    const onOpen = () => {
      openedMs = clock.nowMs();
      if (!sendsBookmarks) sink.heard();
    };
    try {
      abort.in(clock, silenceMs, () => silent);
      for await (const event of transport.watch({ path, query, signal: abort.signal, onOpen })) {
        position = take(event);
        heard = true;
        failures = 0;
        abort.in(clock, silenceMs, () => silent);
      }
    } catch (error) {
      if (error !== silent) throw error;
      if (sendsBookmarks) report(silent, { resource: type.plural, ageMs: sink.ageMs });
      return;
    } finally {
      if (clock.nowMs() - openedMs >= Math.max(lastPauseMs, atOnceMs)) failures = 0;
    }
    if (!heard && clock.nowMs() - startMs < atOnceMs)
      throw new KubeError(what, "ConnectionLost", { words: "the watch ended at once" });
  }

  function take(event: WatchEvent): string {
    const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (version === undefined)
      throw new KubeError(what, "UnexpectedResponse", { words: "the event has no resourceVersion" });
    if (event.type === "DELETED") sink.remove(event.object.metadata);
    else if (event.type !== "BOOKMARK") sink.upsert(event.object);
    sendsBookmarks ||= event.type === "BOOKMARK";
    sink.advance(version);
    sink.heard();
    return version;
  }

  async function pause(pauseMs: number): Promise<void> {
    lastPauseMs = pauseMs;
    await sleep(clock, pauseMs, signal).catch(() => undefined); // the loop checks the signal
  }
}

// The server sends a bookmark about once a minute. If it sends none, an idle watch is only reconnected.
const silenceMs = 150_000;

/** A watch without events that ends within this time counts as a failure. */
const atOnceMs = 1_000;

const notServedMs = 5_000;

// A function, since the compiler treats `signal.aborted` as constant within a loop that tests it.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
