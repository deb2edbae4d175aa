// SPDX-License-Identifier: Apache-2.0
/**
 * The recorder behind createEventRecorder(): remembers what was told and brings it to the API server, one request at a
 * time, what is due first first.
 * Usage: `const recorder = new Recorder(options)`.
 */
import { randomBytes } from "node:crypto";
import { backoffMs } from "../controller/backoff.ts";
import { sleep, systemClock, type Clock } from "../clock.ts";
import { createBudget, type Budget } from "./budget.ts";
import { newsKey, objectOf, renderEvent, type News } from "./event-object.ts";
import { isPassing, sendEvent, type EventState } from "./send-event.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { microTime } from "../json/micro-time.ts";
import type { EventRecorder, EventRecorderOptions } from "./events.ts";

const minuteMs = 60_000;
/** How much different news is remembered. */
const maxEntries = 1_000;
/** News that comes again after this makes a new Event: the server forgets them after an hour. */
const forgetMs = 30 * minuteMs;
/** How long disposing may take. */
const flushMs = 2_000;

interface Entry extends EventState {
  readonly lastMs: number;
  /** When the server is to hear of what it does not have. */
  readonly dueMs: number;
}

/** Options must have been checked. */
export class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #budget: Budget;
  /** By what they say, the one that was seen last is last. */
  readonly #entries = new Map<string, Entry>();
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  #isClosing = false;
  #wake = () => {};
  #failures = 0;
  #toldAtMs = -Infinity;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const nowMs = () => this.#clock.nowMs();
    this.#budget = createBudget({ burst: 25, refillMs: minuteMs, maxObjects: maxEntries, nowMs });
    this.#ended = this.#run();
  }

  record(news: News): void {
    if (this.#isClosing) return;
    try {
      this.#note(news);
    } catch (error) {
      this.#tell(error);
    }
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    const cancel = this.#clock.after(flushMs, () => {
      this.#end.abort();
    });
    await this.#ended;
    cancel();
  }

  #note(news: News): void {
    const lastMs = this.#clock.nowMs();
    const lastTime = microTime(this.#options.now?.() ?? new Date());
    const suffix = randomBytes(8).toString("hex");
    const body = renderEvent(news, this.#options, { suffix, eventTime: lastTime });
    const key = newsKey(body);
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known !== undefined && lastMs - known.lastMs < forgetMs) {
      this.#entries.set(key, { ...known, count: known.count + 1, lastTime, lastMs });
    } else if (this.#budget.take(objectOf(body))) {
      this.#entries.set(key, { body, count: 1, lastTime, lastMs, written: 0, dueMs: lastMs });
      if (this.#entries.size > maxEntries) this.#dropOldest();
    } else {
      this.#tellLoss(news.reason, `${objectOf(body)} has had too many`);
    }
  }

  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key);
      if (isPending(entry)) this.#tellLoss(entry.body.reason, "more than can be kept until they are written");
      return;
    }
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const next = this.#nextPending();
      if (next === undefined && this.#isClosing) return;
      const isDue = next !== undefined && (this.#isClosing || next[1].dueMs <= this.#clock.nowMs());
      await (isDue ? this.#write(...next) : this.#wait(next?.[1].dueMs));
    }
  }

  /** Of what the server has yet to hear of, what is due first. */
  #nextPending(): [key: string, entry: Entry] | undefined {
    let next: [string, Entry] | undefined;
    for (const [key, entry] of this.#entries) {
      if (isPending(entry) && entry.dueMs < (next?.[1].dueMs ?? Infinity)) next = [key, entry];
    }
    return next;
  }

  /** Until then, or until there is news. */
  async #wait(untilMs: number | undefined): Promise<void> {
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
      else this.#beginAgain(key, entry);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      this.#tell(error);
      if (isPassing(error)) await this.#backOff(error);
      else this.#entries.delete(key); // refused; the same news will be another try
    }
  }

  // The entry may have been seen again meanwhile, or dropped.
  #update(key: string, change: Partial<Entry>): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#entries.set(key, { ...entry, ...change });
  }

  /** The server has lost the Event: makes a new one of what it has not heard of. */
  #beginAgain(key: string, { body, count, written, lastTime }: Entry): void {
    this.#update(key, { body: { ...body, eventTime: lastTime }, count: count - written, written: 0 });
  }

  async #backOff(error: unknown): Promise<void> {
    this.#failures += 1;
    const { random = Math.random } = this.#options;
    const ownMs = backoffMs(this.#failures, { baseMs: 500, maxMs: 30_000 }, random);
    const askedMs = (isKubeError(error) ? error.retryAfterMs : undefined) ?? 0;
    await sleep(this.#clock, Math.max(ownMs, askedMs), this.#end.signal).catch(() => undefined);
  }

  #tellLoss(reason: string, words: string): void {
    this.#tell(new KubeError(`record event ${reason}`, "TooManyEvents", { words }));
  }

  #tell(error: unknown): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#toldAtMs < minuteMs) return;
    this.#toldAtMs = nowMs;
    this.#options.report(error);
  }
}

function isPending({ count, written }: Entry): boolean {
  return written < count;
}
