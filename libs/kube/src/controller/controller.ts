// SPDX-License-Identifier: Apache-2.0
/**
 * A loop that makes things so: sources say which keys may have changed, `reconcile` looks at the present state of one
 * key and acts. It is told no event, so it can be repeated, killed at any instruction, and repeated again.
 * Usage: `await using controller = startController({ name: "node-states", reconcile, sources, signal, report })`.
 */
import type { BackoffRange } from "./backoff.ts";
import { staleAmong, whenFresh, type Ageing, type CacheAge } from "../cache/cache-age.ts";
import { systemClock, type Clock } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { linkAbort } from "../linked-abort.ts";
import type { Source } from "./source.ts";
import { WorkQueue } from "./work-queue.ts";

/**
 * Makes the world of `key` what it should be. Never runs twice at once for a key. To throw brings the key back, later
 * each time. The signal aborts when the deadline has passed or the work must stop.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Requeue | undefined>;

/** Come back to the key after this time, unless something brings it back sooner. */
export interface Requeue {
  readonly afterMs: number;
}

export interface ControllerOptions {
  /** For reports. */
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  /** What else reconcile reads: nothing runs before these and the sources are synced. */
  readonly caches?: readonly Pick<Source, "whenSynced">[];
  /** Unless given, caches may be of any age. */
  readonly freshness?: Freshness;
  /** Aborted when all must stop at once, as when the lease is lost. */
  readonly signal: AbortSignal;
  /** Told each failure once. It is not an error that the work was stopped. */
  readonly report: (error: unknown, at: FailedReconcile) => void;
  readonly metrics?: ControllerMetrics;
  /** Keys worked on at once; 16 unless given. */
  readonly parallel?: number;
  /** For one reconcile; 60 s unless given. */
  readonly deadlineMs?: number;
  /** For the reconciles in hand when the controller is disposed; 8 s unless given. */
  readonly drainMs?: number;
  /** How long a key must have been left alone before it runs, once work has begun; 100 ms unless given. */
  readonly debounceMs?: number;
  /** How long a key that is not left alone may be put off; 500 ms unless given. */
  readonly maxDebounceMs?: number;
  /** Between failures of a key; 0.2 s to 60 s unless given. */
  readonly backoff?: BackoffRange;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** While one of `caches` is older than this, nothing runs and keys wait: what a stale cache lacks may be there. */
export interface Freshness {
  readonly caches: readonly Ageing[];
  readonly maxAgeMs: number;
  /** Told which ones are stale, each time that keys begin to wait for them. */
  readonly onStale: (stale: readonly CacheAge[]) => void;
}

export interface FailedReconcile {
  readonly controller: string;
  readonly key: string;
  /** Of this key, in a row. */
  readonly failures: number;
}

/** How a reconcile ended: "stopped" is one that threw when all had to stop. */
export type Outcome = "done" | "requeued" | "failed" | "stopped";

export interface ControllerMetrics {
  reconciled(run: { readonly outcome: Outcome; readonly durationMs: number }): void;
  /** How long a key was ready before it was taken. */
  waited(latencyMs: number): void;
}

/** Disposing it takes no more keys and waits for those in hand. */
export interface Controller extends AsyncDisposable {
  readonly name: string;
  /** Keys that are ready and wait for a free hand. */
  readonly depth: number;
  /** Resolves once it has begun and no key waits for a free hand, or when it ends: for work that lets it go first. */
  whenIdle(): Promise<void>;
}

/** Runs until it is disposed or the signal aborts. */
export function startController(options: ControllerOptions): Controller {
  const { name, reconcile, sources, caches = [], freshness, metrics, report } = options;
  const { parallel = 16, deadlineMs = 60_000, drainMs = 8_000, clock = systemClock } = options;

  const queue = createQueue(options);
  const mustStop = linkAbort(options.signal);
  const ending = new AbortController();
  mustStop.signal.addEventListener("abort", end, { once: true });
  const begun = Promise.withResolvers<undefined>();
  let hasBegun = false;
  let waiting: Promise<void> | undefined;
  const stopSources = sources.map((source) =>
    source.start((key) => {
      // What comes before the first key is taken comes together anyway, and the work to do at a start waits for nothing.
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
      mustStop.in(clock, drainMs, () => new KubeError(name, "Timeout", { words: `not drained within ${drainMs} ms` }));
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
      return; // ended before it began: whenSynced() rejects for nothing else
    } finally {
      begun.resolve(undefined);
    }
    hasBegun = true;
    await Promise.all(Array.from({ length: parallel }, takeKeys));
  }

  async function takeKeys(): Promise<void> {
    let key;
    while ((key = await queue.take()) !== undefined) {
      if (freshness !== undefined && isAnyStale(freshness)) await untilFresh(freshness);
      if (ending.signal.aborted) return;
      const startMs = clock.nowMs();
      const outcome = await attempt(key);
      queue.done(key);
      metrics?.reconciled({ outcome, durationMs: clock.nowMs() - startMs });
    }
  }

  /** All hands wait for the same. Resolves also when it ends. */
  function untilFresh({ caches: read, maxAgeMs, onStale }: Freshness): Promise<void> {
    if (waiting === undefined) {
      onStale(staleAmong(read, maxAgeMs));
      waiting = whenFresh(read, { maxAgeMs, clock, signal: ending.signal })
        .catch(() => undefined) // ended: whenFresh() rejects for nothing else
        .finally(() => {
          waiting = undefined;
        });
    }
    return waiting;
  }

  async function attempt(key: string): Promise<Outcome> {
    using abort = linkAbort(mustStop.signal);
    abort.in(clock, deadlineMs, () => {
      return new KubeError(`${name} ${key}`, "Timeout", { words: `not done within ${deadlineMs} ms` });
    });
    try {
      const requeue = await reconcile(key, abort.signal);
      queue.forget(key);
      if (requeue === undefined) return "done";
      queue.addAfter(key, requeue.afterMs);
      return "requeued";
    } catch (error) {
      if (mustStop.signal.aborted) return "stopped";
      const failures = queue.retry(key, isKubeError(error) ? error.retryAfterMs : undefined);
      report(error, { controller: name, key, failures });
      return "failed";
    }
  }
}

function isAnyStale({ caches, maxAgeMs }: Freshness): boolean {
  return caches.some(({ ageMs }) => ageMs > maxAgeMs);
}

function createQueue(options: ControllerOptions): WorkQueue {
  const { debounceMs = 100, maxDebounceMs = 500, backoff = { baseMs: 200, maxMs: 60_000 } } = options;
  const { clock = systemClock, random = Math.random, metrics } = options;
  const onTaken = (latencyMs: number) => {
    metrics?.waited(latencyMs);
  };
  return new WorkQueue({ clock, random, debounceMs, maxDebounceMs, backoff, onTaken });
}
