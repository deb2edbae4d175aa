// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps a sink like the API server: lists all objects in pages, then follows the watch from there for as long as the
 * process lives. A watch that ends is taken up where it was; where the server has forgotten that place (410), all is
 * listed again, and what the list lacks was deleted. Lists are always paged, also after a failure: a list in one piece may
 * be too large to ever succeed. Model: client-go's reflector.
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
  /** All namespaces unless given. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects in one answer to a list; 500 unless given. Less for large objects: a page is in memory whole. */
  readonly pageSize?: number | undefined;
  /**
   * The server may not know the kind, as long as nobody has installed its CRD: then it has no objects, and is asked again
   * every 5 s. Unless given, that is a failure like any other.
   */
  readonly optional?: boolean | undefined;
  readonly sink: ObjectSink;
  /** Told each failure; it is tried again. That the server has forgotten where a watch would go on is none. */
  readonly report: (error: unknown, at: FailedWatch) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** Resolves once the signal has aborted. */
export async function reflect(options: ReflectorOptions): Promise<void> {
  const { transport, type, namespace, labelSelector, fieldSelector, pageSize = 500, sink, report, signal } = options;
  const { clock = systemClock, random = Math.random, optional = false } = options;
  const what = `watch ${type.plural}`;
  /** Where the watch goes on; undefined when a list is due. */
  let position: string | undefined;
  /** Since an event came, or a watch lasted for longer than the pause before it. */
  let failures = 0;
  let lastPauseMs = 0;
  /** The server is known to send bookmarks. That it accepts a watch, and then is silent, confirms nothing. */
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
      const forgotten = isKubeError(error, "Expired", "Gone");
      if (!forgotten || position === undefined) report(error, { resource: type.plural, ageMs: sink.ageMs });
      if (forgotten || isKubeError(error, "UnexpectedResponse")) position = undefined;
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

  /** Returns when the server ends the watch, as it does every few minutes, or when it has gone silent. */
  async function follow(resourceVersion: string): Promise<void> {
    const timeoutSeconds = Math.floor(300 + random() * 300); // spread, so that a fleet does not come back together
    const query = { resourceVersion, timeoutSeconds, allowWatchBookmarks: true, labelSelector, fieldSelector };
    const path = collectionPath(type, namespace);
    const startMs = clock.nowMs();
    const silent = new KubeError(what, "Timeout", { words: `silent for ${silenceMs} ms` });
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
      throw new KubeError(what, "ConnectionLost", { words: "ended at once" });
  }

  function take(event: WatchEvent): string {
    const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (version === undefined) throw new KubeError(what, "UnexpectedResponse", { words: "no resourceVersion" });
    if (event.type === "DELETED") sink.remove(event.object.metadata);
    else if (event.type !== "BOOKMARK") sink.upsert(event.object);
    sendsBookmarks ||= event.type === "BOOKMARK";
    sink.advance(version);
    sink.heard();
    return version;
  }

  async function pause(pauseMs: number): Promise<void> {
    lastPauseMs = pauseMs;
    await sleep(clock, pauseMs, signal).catch(() => undefined); // aborted: the loop sees it
  }
}

// Bookmarks come each minute where there is nothing else to say. A server that sends none costs a reconnection.
const silenceMs = 150_000;

/** A watch that ends within this time has not begun. */
const atOnceMs = 1_000;

const notServedMs = 5_000;

// A function, since the compiler takes `signal.aborted` for constant within a loop that tests it.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
