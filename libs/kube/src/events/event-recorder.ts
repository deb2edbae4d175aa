// SPDX-License-Identifier: Apache-2.0
/**
 * createEventRecorder makes a recorder for Events (events.k8s.io/v1), which `kubectl describe` shows. Recording costs the
 * caller nothing: it never waits and never throws. A repeated event increases the count of the first Event, with at most
 * one write per minute. The number of writes per object and the memory are limited, so events can be lost: nothing may
 * depend on them.
 * RBAC: create and patch events.events.k8s.io in the namespaces of the objects ("default" for cluster-scoped objects).
 * Usage: `recorder.record({ regarding: state, type: "Warning", reason: "DrainStuck", note: "2 pods cannot be evicted" })`.
 */
import { randomBytes } from "node:crypto";
import { backoffMs, systemClock, type Clock } from "../clock.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import type { Transport } from "../http/transport.ts";
import { microTime } from "../json/texts.ts";
import {
  isQualifiedName,
  eventKey,
  objectOf,
  renderEvent,
  type EventSource,
  type EventToRecord,
} from "./render-event.ts";
import { createEventBudget, isTemporary, sendEvent, type EventBudget, type EventState } from "./send-event.ts";

export type EventRecorderOptions = EventQueueOptions;

/** Disposing it writes the remaining events, for at most two seconds. */
export interface EventRecorder extends AsyncDisposable {
  /** Records an event. Returns at once and never throws. */
  record(news: EventToRecord): void;
}

/** Throws RangeError if the controller's name is not a qualified name: the API server would reject all its events. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  if (!isQualifiedName(options.controller)) {
    throw new RangeError(`invalid reporting controller "${options.controller}": it must be a qualified name`);
  }
  return new QueuedEventRecorder(options);
}

const minuteMs = 60_000;

/** Number of different events in memory. */
const maxEntries = 1_000;

/** An event that is repeated after this time becomes a new Event, since the API server deletes Events after an hour. */
const forgetMs = 30 * minuteMs;

/** Number of requests at the same time; one after a failure. */
const parallel = 4;

/** Time limit for writing the remaining events on disposal. */
const flushMs = 2_000;

/**
 * QueuedEventRecorder keeps recorded events and writes them to the API server, a few at the same time, the earliest due first.
 */
interface EventQueueOptions extends EventSource {
  readonly transport: Transport;
  /** Called for lost events and failed writes, at most once a minute. */
  readonly report: (error: unknown) => void;
  readonly clock?: Clock;
  /** Returns the wall-clock time. */
  readonly now?: () => Date;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

interface Entry extends EventState {
  readonly lastMs: number;
  /** Time of the next write, if the server does not have the current count. */
  readonly dueMs: number;
}

/** `controller` must be a qualified name. Disposing the queue writes the remaining events, for at most two seconds. */
class QueuedEventRecorder implements AsyncDisposable {
  readonly #options: EventQueueOptions;
  readonly #clock: Clock;
  readonly #budget: EventBudget;
  /** Entries by eventKey, in the order of their last occurrence. */
  readonly #entries = new Map<string, Entry>();
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  readonly #inFlight = new Map<string, Promise<void>>();
  #isClosing = false;
  #wake = () => {};
  #failures = 0;
  /** After failures, no request starts before this time. */
  #resumeMs = -Infinity;
  #reportedAtMs = -Infinity;

  constructor(options: EventQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const nowMs = () => this.#clock.nowMs();
    this.#budget = createEventBudget({ burst: 25, refillMs: minuteMs, maxObjects: maxEntries, nowMs });
    this.#ended = this.#run();
  }

  /** Returns at once and never throws. */
  record(news: EventToRecord): void {
    if (this.#isClosing) return;
    try {
      this.#add(news);
    } catch (error) {
      this.#report(error);
    }
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    const cancel = this.#clock.after(flushMs, () => {
      this.#end.abort();
      this.#wake();
    });
    await this.#ended;
    cancel();
  }

  #add(news: EventToRecord): void {
    const lastMs = this.#clock.nowMs();
    const lastTime = microTime(this.#options.now?.() ?? new Date());
    const suffix = randomBytes(8).toString("hex");
    const body = renderEvent(news, this.#options, { suffix, eventTime: lastTime });
    const key = eventKey(body);
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known !== undefined && lastMs - known.lastMs < forgetMs) {
      this.#entries.set(key, { ...known, count: known.count + 1, lastTime, lastMs });
    } else if (this.#budget.take(objectOf(body))) {
      this.#entries.set(key, { body, count: 1, lastTime, lastMs, written: 0, dueMs: lastMs });
      if (this.#entries.size > maxEntries) this.#dropOldest();
    } else {
      this.#reportLoss(news.reason, `rate limit of ${objectOf(body)} exceeded`);
    }
  }

  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key);
      if (isPending(entry)) this.#reportLoss(entry.body.reason, `more than ${maxEntries} events wait to be written`);
      return;
    }
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const next = this.#nextPending();
      if (next === undefined && this.#isClosing && this.#inFlight.size === 0) return;
      const limit = this.#failures === 0 ? parallel : 1;
      if (next === undefined || this.#inFlight.size >= limit) {
        await this.#wait();
        continue;
      }
      const startMs = Math.max(this.#resumeMs, this.#isClosing ? -Infinity : next[1].dueMs);
      if (startMs > this.#clock.nowMs()) await this.#wait(startMs);
      else this.#start(...next);
    }
    await Promise.all(this.#inFlight.values());
  }

  #start(key: string, entry: Entry): void {
    const written = this.#write(key, entry).finally(() => {
      this.#inFlight.delete(key);
      this.#wake();
    });
    this.#inFlight.set(key, written);
  }

  /**
   * Returns the entry with the earliest due time of those that the server does not have with the current count, and that are
   * not being written.
   */
  #nextPending(): [key: string, entry: Entry] | undefined {
    let next: [string, Entry] | undefined;
    for (const [key, entry] of this.#entries) {
      if (this.#inFlight.has(key) || !isPending(entry)) continue;
      if (entry.dueMs < (next?.[1].dueMs ?? Infinity)) next = [key, entry];
    }
    return next;
  }

  /** Waits until `untilMs` or until #wake is called. */
  async #wait(untilMs?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#wake = () => {
      resolve(undefined);
    };
    const cancel = untilMs === undefined ? undefined : this.#clock.after(untilMs - this.#clock.nowMs(), this.#wake);
    await promise;
    cancel?.();
  }

  async #write(key: string, entry: Entry): Promise<void> {
    const dueMs = this.#clock.nowMs() + minuteMs;
    if (entry.written > 0 && !this.#isClosing && !this.#budget.take(objectOf(entry.body))) {
      this.#update(key, { dueMs });
      return;
    }
    const limits = { timeoutMs: 5_000, signal: this.#end.signal };
    try {
      const written = await sendEvent(this.#options.transport, entry, limits);
      this.#failures = 0;
      if (written > 0) this.#update(key, { written, dueMs });
      else this.#createAgain(key, entry);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#report(error);
      if (isTemporary(error)) this.#backOff(error);
      else this.#entries.delete(key); // the server rejected it; if the event occurs again, it is sent again
    }
  }

  // The entry may have been counted up or dropped during the request.
  #update(key: string, change: Partial<Entry>): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#entries.set(key, { ...entry, ...change });
  }

  /** Makes a new Event with the occurrences that the server does not have, since it has deleted the first Event. */
  #createAgain(key: string, { body, count, written, lastTime }: Entry): void {
    this.#update(key, { body: { ...body, eventTime: lastTime }, count: count - written, written: 0 });
  }

  /** Requests that fail at the same time count once. */
  #backOff(error: unknown): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#resumeMs) return;
    this.#failures += 1;
    const { random = Math.random } = this.#options;
    const ownMs = backoffMs(this.#failures, { baseMs: 500, maxMs: 30_000 }, random);
    const requestedMs = (isKubeError(error) ? error.retryAfterMs : undefined) ?? 0;
    this.#resumeMs = nowMs + Math.max(ownMs, requestedMs);
  }

  #reportLoss(reason: string, words: string): void {
    this.#report(new KubeError(`record event ${reason}`, "TooManyEvents", { words }));
  }

  #report(error: unknown): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#reportedAtMs < minuteMs) return;
    this.#reportedAtMs = nowMs;
    this.#options.report(error);
  }
}

function isPending({ count, written }: Entry): boolean {
  return written < count;
}
