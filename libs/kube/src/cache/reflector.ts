// SPDX-License-Identifier: Apache-2.0
/**
 * reflect keeps a sink in step with the API server: it lists all objects in pages and then watches from there. A watch
 * that ends continues at its last resourceVersion. If the server no longer has that version (410), all objects are listed
 * again, and objects that the list lacks were deleted. Lists are always paged, also after a failure, since an unpaged list
 * can be too large to succeed. The model is client-go's reflector.
 *
 * After the restore of a backup of etcd, the server accepts a watch from a version that it does not have yet. It then
 * sends nothing until the cluster has made as many writes as were lost (seen with Kubernetes 1.36). So all objects are
 * listed again after a silence, and after any answer with an earlier version than the one that is known. Versions are
 * compared within one kind only, because kinds can be in different databases.
 * Usage: `await reflect({ transport, type: nodes, sink: store, report, signal })`.
 */
import { backoffMs, sleep, systemClock, type Clock } from "../clock.ts";
import type { FailedWatch } from "./cache-age.ts";
import { isKubeError, KubeError, type OwnCode } from "../http/kube-error.ts";
import type { ResourceType } from "../kube-object.ts";
import { linkAbort } from "../linked-abort.ts";
import { listPages } from "../http/list-pages.ts";
import type { ObjectSink } from "./object-store.ts";
import { collectionPath, type Transport, type WatchEvent } from "../http/transport.ts";
import { isBehind } from "./cache.ts";
import type { ServedGroups } from "./served-groups.ts";

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
  /** For an optional kind: while its group is missing, the server is asked for the groups only, once for all kinds. */
  readonly groups?: ServedGroups | undefined;
  readonly sink: ObjectSink;
  /** Called for each failure; the request is retried. An expired resourceVersion of a watch is not a failure. */
  readonly report: (error: unknown, at: FailedWatch) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** Resolves when the signal aborts. Never rejects. */
export async function reflect(options: ReflectorOptions): Promise<void> {
  const { signal } = options;
  const progress: Progress = {
    position: undefined,
    known: undefined,
    isRewound: false,
    failures: 0,
    lastPauseMs: 0,
    sendsBookmarks: false,
  };
  while (!signal.aborted) {
    try {
      progress.position ??= await list(options, progress);
      await follow(options, progress, progress.position);
    } catch (error) {
      if (isAborted(signal)) return;
      await handleFailure(options, progress, error);
    }
  }
}

interface Progress {
  /** resourceVersion from which the watch continues; undefined when a list is needed. */
  position: string | undefined;
  /** resourceVersion of the last list, event or bookmark. */
  known: string | undefined;
  /** Whether an answer since the last list had an earlier version than the one that was known. */
  isRewound: boolean;
  /** Failures since the last event or since a watch lasted longer than the pause before it. */
  failures: number;
  lastPauseMs: number;
  /** Whether the server has sent a bookmark. Then an accepted watch without events does not confirm the content. */
  sendsBookmarks: boolean;
}

async function list(options: ReflectorOptions, progress: Progress): Promise<string> {
  const { transport, type, namespace, labelSelector, fieldSelector, pageSize = 500, sink, signal } = options;
  let resourceVersion = "";
  sink.beginList();
  const pages = listPages(transport, { type, namespace, labelSelector, fieldSelector, pageSize, signal });
  for await (const page of pages) {
    progress.isRewound ||= isRewoundTo(page.resourceVersion, progress);
    if (progress.isRewound && resourceVersion === "") sink.rewind();
    for (const item of page.items) sink.upsert(item);
    resourceVersion = page.resourceVersion;
  }
  sink.endList(resourceVersion);
  progress.known = resourceVersion;
  progress.isRewound = false;
  sink.confirmed();
  return resourceVersion;
}

/**
 * Returns when the server ends the watch, as it does at its time limit, or when the watch is silent for too long. Then, or when
 * a writer has received an earlier version, `progress` has no position.
 */
async function follow(options: ReflectorOptions, progress: Progress, resourceVersion: string): Promise<void> {
  const { transport, type, namespace, labelSelector, fieldSelector, sink, report, signal } = options;
  const { clock = systemClock, random = Math.random } = options;
  // Bookmarks show that a watch is alive, so it can be long. Random, so that the watches of many nodes do not end together.
  const timeoutSeconds = Math.floor(600 + random() * 600);
  const query = { resourceVersion, timeoutSeconds, allowWatchBookmarks: true, labelSelector, fieldSelector };
  const path = collectionPath(type, namespace);
  const startMs = clock.nowMs();
  const silent = watchError(type, "Timeout", `no event or bookmark for ${silenceMs} ms`);
  const doubted = watchError(type, "UnexpectedResponse", "a write was answered with an earlier resourceVersion");
  using abort = linkAbort(signal);
  let hasEvents = false;
  let openedMs = Infinity;
  const onOpen = () => {
    openedMs = clock.nowMs();
    if (!progress.sendsBookmarks) sink.confirmed();
  };
  const endDoubts = sink.onDoubt(() => {
    progress.isRewound = true;
    abort.abort(doubted);
  });
  try {
    abort.in(clock, silenceMs, () => silent);
    for await (const event of transport.watch({ path, query, signal: abort.signal, onOpen })) {
      progress.position = take(options, progress, event);
      hasEvents = true;
      progress.failures = 0;
      abort.in(clock, silenceMs, () => silent);
    }
  } catch (error) {
    if (error !== silent) throw error;
    if (progress.sendsBookmarks) report(silent, { resource: type.plural, ageMs: sink.ageMs });
    progress.position = undefined;
    return;
  } finally {
    endDoubts();
    if (clock.nowMs() - openedMs >= Math.max(progress.lastPauseMs, atOnceMs)) progress.failures = 0;
  }
  if (!hasEvents && clock.nowMs() - startMs < atOnceMs) {
    throw watchError(type, "ConnectionLost", "the watch ended at once");
  }
}

/** Passes the event to the sink and returns its resourceVersion. Throws if it is earlier than the known one. */
function take({ type, sink }: ReflectorOptions, progress: Progress, event: WatchEvent): string {
  const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
  if (version === undefined) throw watchError(type, "UnexpectedResponse", "the event has no resourceVersion");
  if (isRewoundTo(version, progress)) {
    progress.isRewound = true;
    const words = `the resourceVersion went back from ${progress.known ?? ""} to ${version}`;
    throw watchError(type, "UnexpectedResponse", words);
  }
  progress.known = version;
  if (event.type === "DELETED") sink.remove(event.object.metadata);
  else if (event.type !== "BOOKMARK") sink.upsert(event.object);
  progress.sendsBookmarks ||= event.type === "BOOKMARK";
  sink.advance(version);
  sink.confirmed();
  return version;
}

/** Returns false if versions are not comparable. */
function isRewoundTo(version: string, { known }: Progress): boolean {
  return known !== undefined && isBehind(version, known);
}

/** Reports the error and waits before the next attempt. */
async function handleFailure(options: ReflectorOptions, progress: Progress, error: unknown): Promise<void> {
  const { type, sink, report, optional = false, random = Math.random } = options;
  if (optional && isKubeError(error, "NotFound")) {
    progress.position = undefined;
    sink.notServed();
    sink.confirmed();
    await pause(options, progress, notServedMs);
    const confirmed = () => {
      sink.confirmed();
    };
    await options.groups?.whenServed(type, options.signal, confirmed).catch(() => undefined); // the loop checks the signal
    return;
  }
  progress.failures++;
  if (isKubeError(error, "Forbidden")) {
    sink.refused?.(`Forbidden (${progress.position === undefined ? "list" : "watch"} ${type.plural})`);
  }
  const isExpired = isKubeError(error, "Expired", "Gone");
  if (!isExpired || progress.position === undefined) report(error, { resource: type.plural, ageMs: sink.ageMs });
  if (isExpired || isKubeError(error, "UnexpectedResponse")) progress.position = undefined;
  const atLeastMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
  const ownMs = backoffMs(progress.failures, { baseMs: 500, maxMs: 15_000 }, random);
  await pause(options, progress, Math.max(atLeastMs, ownMs));
}

async function pause({ clock = systemClock, signal }: ReflectorOptions, progress: Progress, ms: number): Promise<void> {
  progress.lastPauseMs = ms;
  await sleep(clock, ms, signal).catch(() => undefined); // the loop checks the signal
}

function watchError(type: ResourceType, code: OwnCode, words: string): KubeError {
  return new KubeError(`watch ${type.plural}`, code, { words });
}

// The server sends a bookmark about once a minute. An aggregated server may send none; then a list confirms the content.
const silenceMs = 150_000;

/** A watch without events that ends within this time counts as a failure. */
const atOnceMs = 1_000;

const notServedMs = 5_000;

// A function, since the compiler treats `signal.aborted` as constant within a loop that tests it.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
