// SPDX-License-Identifier: Apache-2.0
/**
 * World simulates replicas that compete for one Lease with many faults: replicas freeze and resume, their clocks differ,
 * and requests and responses are late or lost. Leaders write all the time, and the world records the writes that arrive.
 */
import { sleep, type Clock } from "../clock.ts";
import { equalJson } from "../json/equal-json.ts";
import { isKubeError, KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";
import type { Leadership } from "../leadership/leader-election-options.ts";
import { runWhenLeading } from "../leadership/leader-election.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";
import { FakeClock, settleCallbacks } from "./fake-clock.ts";

const leaseName = { namespace: "ns", name: "operator" };
const leasePath = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
const work: TransportRequest = { method: "PATCH", path: "/api/v1/namespaces/ns/configmaps/work", body: {} };

/** A write of a leader that has arrived. */
export interface Arrival {
  readonly by: string;
  /** Number of the leadership in this world. */
  readonly term: number;
}

export class World {
  /** The real time. */
  readonly clock = new FakeClock();
  readonly replicas: Replica[] = [];
  readonly arrivals: Arrival[] = [];
  /** Returns a number in [0, 1) for faults and delays. */
  readonly random: () => number;
  lease: Record<string, unknown> | undefined;
  terms = 0;
  #version = 0;

  constructor(random: () => number) {
    this.random = random;
  }

  start(identity: string, pace = 1): Replica {
    const replica = new Replica(this, identity, pace);
    this.replicas.push(replica);
    return replica;
  }

  get leaders(): readonly string[] {
    return this.replicas.filter(({ isLeading }) => isLeading()).map(({ identity }) => identity);
  }

  get holder(): unknown {
    return isRecord(this.lease?.["spec"]) ? this.lease["spec"]["holderIdentity"] : undefined;
  }

  /** Restores a backup in which the Lease is as it was at `version`, with the writes since then lost. */
  restore(lease: Readonly<Record<string, unknown>>, version: number): void {
    this.#version = version;
    this.lease = structuredClone(lease);
  }

  get version(): number {
    return this.#version;
  }

  /** Changes the Lease as another program would. */
  changeLease(change: Readonly<Record<string, unknown>>): void {
    if (this.lease !== undefined) this.#store({ ...this.lease, ...change });
  }

  /** Handles a request as the API server does, with optimistic locking by resourceVersion. */
  serve({ method, path, body }: TransportRequest, arrival: Arrival): unknown {
    if (!path.startsWith(leasePath)) {
      this.arrivals.push(arrival);
      return {};
    }
    const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
    if (method === "POST" && this.lease !== undefined) throw new KubeError(method, "AlreadyExists");
    if (method === "GET" && this.lease === undefined) throw new KubeError(method, "NotFound");
    if (method === "PUT" && metadata["resourceVersion"] !== this.#resourceVersion())
      throw new KubeError(method, "Conflict");
    if (method !== "GET" && isRecord(body)) this.#store(body);
    return structuredClone(this.lease);
  }

  #resourceVersion(): unknown {
    return isRecord(this.lease?.["metadata"]) ? this.lease["metadata"]["resourceVersion"] : undefined;
  }

  // A write without a change keeps the resourceVersion, as in etcd.
  #store(object: Readonly<Record<string, unknown>>): void {
    const metadata = { ...leaseName, uid: "u", resourceVersion: this.#resourceVersion() };
    if (equalJson({ ...object, metadata }, this.lease)) return;
    this.lease = structuredClone({ ...object, metadata: { ...metadata, resourceVersion: `${++this.#version}` } });
  }
}

/** A process with its own clock, which has another speed and start. */
export class Replica {
  readonly identity: string;
  readonly end = new AbortController();
  readonly done: Promise<void>;
  readonly reported: unknown[] = [];
  /** Number of times that it noticed a restored backup. */
  rewinds = 0;
  /** Probability that a request or a response is lost. */
  lossOfRequests = 0;
  lossOfAnswers = 0;
  longestDelayMs = 100;
  /** Called when the work starts; its promise is part of the work. */
  onWork: (leadership: Leadership) => Promise<void> = async () => {};
  readonly #world: World;
  readonly #clock: Clock;
  readonly #waking: (() => void)[] = [];
  #frozen = false;
  #leadership: Leadership | undefined;

  constructor(world: World, identity: string, pace: number) {
    this.identity = identity;
    this.#world = world;
    this.#clock = {
      nowMs: () => 1_000_000 * pace + world.clock.nowMs() * pace,
      after: (delayMs, run) =>
        world.clock.after(delayMs / pace, () => {
          this.#wake(run);
        }),
    };
    this.done = runWhenLeading({
      transport: this.#transport(),
      lease: leaseName,
      identity,
      signal: this.end.signal,
      clock: this.#clock,
      random: world.random,
      report: (error) => this.reported.push(error),
      onRewind: () => this.rewinds++,
      onLeading: (leadership) => this.#work(leadership),
      now: () => new Date(0), // a wall clock that does not advance
    });
  }

  readonly isLeading = (): boolean => this.#leadership?.isLeading() ?? false;

  /** Delays all callbacks of this process until thaw(). */
  freeze(): void {
    this.#frozen = true;
  }

  /** Runs all delayed callbacks in random order, each with the callbacks that it causes. */
  async thaw(): Promise<void> {
    this.#frozen = false;
    const due = this.#waking.splice(0);
    while (due.length > 0) {
      due.splice(Math.floor(this.#world.random() * due.length), 1)[0]?.();
      await settleCallbacks();
    }
  }

  #wake(run: () => void): void {
    if (this.#frozen) this.#waking.push(run);
    else run();
  }

  async #work(leadership: Leadership): Promise<void> {
    this.#leadership = leadership;
    const term = ++this.#world.terms;
    await Promise.all([this.#write(leadership, term), this.onWork(leadership)]);
  }

  async #write({ transport, signal }: Leadership, term: number): Promise<void> {
    while (!signal.aborted) {
      try {
        await transport.request({ ...work, body: { term } });
      } catch (error) {
        if (!isKubeError(error, "Timeout", "NotLeading")) throw error;
      }
      await sleep(this.#clock, 300, signal).catch(() => undefined);
    }
  }

  #transport(): Transport {
    return {
      namespace: "ns",
      request: (request) => this.#send(request),
      watch: () => {
        throw new TypeError("unexpected watch");
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  #send(request: TransportRequest): Promise<unknown> {
    const { signal, timeoutMs = 30_000, body } = request;
    const world = this.#world;
    const term = isRecord(body) && typeof body["term"] === "number" ? body["term"] : 0;
    const delayMs = () => world.random() * this.longestDelayMs;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => {
        reject(new KubeError("send", "ConnectionLost"));
      });
      this.#clock.after(timeoutMs, () => {
        reject(new KubeError("send", "Timeout"));
      });
      if (world.random() < this.lossOfRequests) return;
      world.clock.after(delayMs(), () => {
        const answer = attempt(() => world.serve(request, { by: this.identity, term }));
        if (world.random() < this.lossOfAnswers) return;
        world.clock.after(delayMs(), () => {
          this.#wake(() => {
            if ("value" in answer) resolve(answer.value);
            else reject(answer.error);
          });
        });
      });
    });
  }
}

function attempt(run: () => unknown): { readonly value: unknown } | { readonly error: KubeError } {
  try {
    return { value: run() };
  } catch (error) {
    if (isKubeError(error)) return { error };
    throw error;
  }
}
