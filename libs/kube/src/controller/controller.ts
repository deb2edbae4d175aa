// SPDX-License-Identifier: Apache-2.0
/**
 * startController runs a reconcile loop. Sources provide the keys that may have changed; `reconcile` reads the current
 * state of one key and acts. It does not get events, so it can be repeated, killed at any instruction, and repeated again.
 * Usage: `await using controller = startController({ name: "node-states", reconcile, sources, signal, report })`.
 */
import { staleAmong, whenFresh, type HasAge, type CacheAge } from "../cache/cache-age.ts";
import type { Cache, CacheChange } from "../cache/cache.ts";
import { systemClock, type BackoffRange, type Clock } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { linkAbort } from "../linked-abort.ts";
import { createKnownRefusals } from "./known-refusals.ts";
import { WorkQueue } from "./work-queue.ts";

/**
 * Brings the objects of `key` to their desired state. Never runs twice at the same time for a key. After an error the key
 * is retried with a growing back-off. The signal aborts at the deadline or when the work must stop.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Requeue | undefined>;

/** Requeues the key after this time, unless a source adds it earlier. */
export interface Requeue {
  readonly afterMs: number;
}

export interface ControllerOptions {
  /** Name in reports. */
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  /** Other caches that reconcile reads. Nothing runs before these and the sources are synced. */
  readonly caches?: readonly Pick<Source, "whenSynced">[] | undefined;
  /** Without it, caches can have any age. */
  readonly freshness?: Freshness | undefined;
  /** Aborts when all work must stop at once, for example when the lease is lost. */
  readonly signal: AbortSignal;
  /** Called once for each failure. An error after the signal has aborted is not a failure. */
  readonly report: (error: unknown, at: FailedReconcile) => void;
  readonly metrics?: ControllerMetrics | undefined;
  /** Number of keys that are reconciled at the same time; 16 by default. */
  readonly parallel?: number | undefined;
  /** Time limit of one reconcile; 60 s by default. */
  readonly deadlineMs?: number | undefined;
  /** Time limit for running reconciles when the controller is disposed; 8 s by default. */
  readonly drainMs?: number | undefined;
  /** A key runs when it was not added again for this time; 100 ms by default. Not applied before the first reconcile. */
  readonly debounceMs?: number | undefined;
  /** Longest delay by debounceMs; 500 ms by default. */
  readonly maxDebounceMs?: number | undefined;
  /** Back-off between failures of a key; 0.2 s to 60 s by default. */
  readonly backoff?: BackoffRange | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: () => number;
}

/** While one of `caches` is older than this, no key is reconciled: an object that a stale cache lacks may exist. */
export interface Freshness {
  readonly caches: readonly HasAge[];
  readonly maxAgeMs: number;
  /** Called with the stale caches each time that keys start to wait for them. */
  readonly onStale: (stale: readonly CacheAge[]) => void;
}

export interface FailedReconcile {
  readonly controller: string;
  readonly key: string;
  /** Failures of this key in a row. */
  readonly failures: number;
  /** Whether the API server has already given this answer since the last success of this key (KnownRefusals). */
  readonly isKnown: boolean;
}

/** Result of a reconcile. "stopped" means that it threw after the signal had aborted. */
export type Outcome = "done" | "requeued" | "failed" | "stopped";

export interface ControllerMetrics {
  reconciled(run: { readonly outcome: Outcome; readonly durationMs: number }): void;
  /** Called with the time for which a key was ready before it was taken. */
  waited(latencyMs: number): void;
}

/** Disposing it starts no further reconciles and waits for the running ones. */
export interface Controller extends AsyncDisposable {
  readonly name: string;
  /** Number of keys that are ready but not yet running. */
  readonly depth: number;
  /** Resolves when the controller has started and no ready key waits, or when it ends. Lets other work run afterwards. */
  whenIdle(): Promise<void>;
}

/** Source provides the keys of a controller, and fromCache makes a source from a cache. */
export interface Source {
  /** Calls `enqueue` for each existing key and for each changed key. Returns a function that ends this. */
  start(enqueue: (key: string) => void): () => void;
  /** Resolves when the source has passed all existing keys; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** Starts a controller, which runs until it is disposed or the signal aborts. */
export function startController(options: ControllerOptions): Controller {
  const { name, sources, caches = [], freshness, metrics } = options;
  const { parallel = 16, drainMs = 8_000, clock = systemClock } = options;

  const queue = createQueue(options);
  const mustStop = linkAbort(options.signal);
  const ending = new AbortController();
  mustStop.signal.addEventListener("abort", end, { once: true });
  const begun = Promise.withResolvers<undefined>();
  let hasBegun = false;
  const attempt = createAttempt(options, queue, mustStop.signal);
  const untilFresh = createFreshnessGate(freshness, clock, ending.signal);
  const stopSources = sources.map((source) =>
    source.start((key) => {
      // The keys before the start are added together, so they need no debounce.
      if (hasBegun) queue.add(key);
      else queue.addAfter(key, 0);
    }),
  );
  const ended = run();
  if (mustStop.signal.aborted) end();

  return {
    name,
    get depth() {
      return queue.depth;
    },
    async whenIdle() {
      await begun.promise;
      await queue.whenAllTaken();
    },
    async [Symbol.asyncDispose]() {
      end();
      mustStop.in(
        clock,
        drainMs,
        () => new KubeError(name, "Timeout", { words: `running reconciles did not end within ${drainMs} ms` }),
      );
      await ended;
      mustStop[Symbol.dispose]();
    },
  };

  function end(): void {
    ending.abort();
    for (const stop of stopSources) stop();
    queue[Symbol.dispose]();
  }

  async function run(): Promise<void> {
    try {
      await Promise.all([...sources, ...caches].map((source) => source.whenSynced(ending.signal)));
    } catch {
      return; // the controller ended before it started; whenSynced() rejects for no other reason
    } finally {
      begun.resolve(undefined);
    }
    hasBegun = true;
    await Promise.all(Array.from({ length: parallel }, takeKeys));
  }

  async function takeKeys(): Promise<void> {
    let key;
    while ((key = await queue.take()) !== undefined) {
      await untilFresh();
      if (ending.signal.aborted) return;
      const startMs = clock.nowMs();
      const outcome = await attempt(key);
      queue.done(key);
      metrics?.reconciled({ outcome, durationMs: clock.nowMs() - startMs });
    }
  }
}

/** Runs reconcile for one key, with the deadline, and requeues the key as needed. */
function createAttempt(
  options: ControllerOptions,
  queue: WorkQueue,
  mustStop: AbortSignal,
): (key: string) => Promise<Outcome> {
  const { name, reconcile, report, deadlineMs = 60_000, clock = systemClock } = options;
  const refusals = createKnownRefusals();

  return async function attempt(key) {
    using abort = linkAbort(mustStop);
    abort.in(clock, deadlineMs, () => {
      return new KubeError(`${name} ${key}`, "Timeout", { words: `reconcile did not end within ${deadlineMs} ms` });
    });
    try {
      const requeue = await reconcile(key, abort.signal);
      queue.forget(key);
      refusals.forget(key);
      if (requeue === undefined) return "done";
      queue.addAfter(key, requeue.afterMs);
      return "requeued";
    } catch (error) {
      if (mustStop.aborted) return "stopped";
      const failures = queue.retry(key, isKubeError(error) ? error.retryAfterMs : undefined);
      report(error, { controller: name, key, failures, isKnown: refusals.add(key, error) === "known" });
      return "failed";
    }
  };
}

/** Returns a function that resolves when no cache is stale or `signal` aborts. All workers share one wait. */
function createFreshnessGate(freshness: Freshness | undefined, clock: Clock, signal: AbortSignal): () => Promise<void> {
  if (freshness === undefined) return () => Promise.resolve();
  const { caches, maxAgeMs, onStale } = freshness;
  let waiting: Promise<void> | undefined;

  return async function untilFresh() {
    if (!caches.some(({ ageMs }) => ageMs > maxAgeMs)) return;
    if (waiting === undefined) {
      onStale(staleAmong(caches, maxAgeMs));
      waiting = whenFresh(caches, { maxAgeMs, clock, signal })
        .catch(() => undefined) // the controller ended; whenFresh() rejects for no other reason
        .finally(() => {
          waiting = undefined;
        });
    }
    await waiting;
  };
}

function createQueue(options: ControllerOptions): WorkQueue {
  const { debounceMs = 100, maxDebounceMs = 500, backoff = { baseMs: 200, maxMs: 60_000 } } = options;
  const { clock = systemClock, random = Math.random, metrics } = options;
  const onTaken = (latencyMs: number) => {
    metrics?.waited(latencyMs);
  };
  return new WorkQueue({ clock, random, debounceMs, maxDebounceMs, backoff, onTaken });
}

/** Returns a source of the keys that `keysOf` returns for each change of the cache. */
export function fromCache<T>(
  cache: Pick<Cache<T>, "subscribe" | "whenSynced">,
  keysOf: (change: CacheChange<T>) => Iterable<string>,
): Source {
  return {
    start: (enqueue) =>
      cache.subscribe((change) => {
        for (const key of keysOf(change)) enqueue(key);
      }),
    whenSynced: (signal) => cache.whenSynced(signal),
  };
}
