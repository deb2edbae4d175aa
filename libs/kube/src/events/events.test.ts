// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createEventRecorder } from "./events.ts";
import type { News } from "./event-object.ts";
import { KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

const minuteMs = 60_000;

/** Events by name, as an API server keeps them; refuses with `failure` while that is set. */
class Events {
  readonly stored = new Map<string, Record<string, unknown>>();
  writes = 0;
  failure: KubeError | undefined;
  /** Whether answers are lost: what was asked for is done. */
  isDeaf = false;

  readonly transport: Transport = {
    namespace: "ns",
    request: async (request) => {
      await Promise.resolve();
      return this.#serve(request);
    },
    watch: () => {
      throw new TypeError("nobody watches here");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };

  /** Reason, and how often it was seen. */
  get told(): readonly string[] {
    return [...this.stored.values()].map(({ reason, series }) => {
      return `${String(reason)} ${isRecord(series) ? String(series["count"]) : "1"}`;
    });
  }

  #serve({ method, path, body }: TransportRequest): unknown {
    this.writes++;
    if (this.failure !== undefined) throw this.failure;
    const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
    const name = method === "POST" ? String(metadata["name"]) : (path.split("/").at(-1) ?? "");
    const known = this.stored.get(name);
    if (method === "POST" && known !== undefined) throw new KubeError(method, "AlreadyExists", { status: 409 });
    if (method === "PATCH" && known === undefined) throw new KubeError(method, "NotFound", { status: 404 });
    this.stored.set(name, { ...known, ...(isRecord(body) ? body : {}) });
    if (this.isDeaf) throw new KubeError(method, "Timeout");
    return {};
  }
}

function start() {
  const clock = new FakeClock();
  const events = new Events();
  const reported: unknown[] = [];
  const now = () => new Date(clock.nowMs());
  const recorder = createEventRecorder({
    transport: events.transport,
    controller: "switchyard-operator",
    instance: "operator-0",
    report: (error) => reported.push(error),
    clock,
    now,
    random: () => 1,
  });
  const tell = (reason: string, note = "", name = "worker-0") => {
    recorder.record({ ...news, reason, note, regarding: { ...news.regarding, metadata: { name } } });
  };
  return { clock, events, reported, recorder, tell };
}

const news: News = {
  regarding: { apiVersion: "v1", kind: "Node", metadata: { name: "worker-0" } },
  type: "Normal",
  reason: "",
  note: "",
};

describe("createEventRecorder", () => {
  it("refuses a controller's name that would lose all events", () => {
    const { transport } = new Events();
    const create = () =>
      createEventRecorder({ transport, controller: "SR-IOV operator", instance: "a", report: () => undefined });
    expect(create).toThrow(RangeError);
  });

  it("writes news at once, and the same news again at most once a minute", async () => {
    const { clock, events, tell } = start();
    tell("Drained");
    await clock.advance(0);
    expect(events.told).toEqual(["Drained 1"]);
    for (let seconds = 0; seconds < 150; seconds++) {
      tell("Drained");
      await clock.advance(1_000);
    }
    expect([events.told, events.writes]).toEqual([["Drained 121"], 3]);
    await clock.advance(10 * minuteMs);
    expect([events.told, events.writes]).toEqual([["Drained 151"], 4]);
    expect([...events.stored.values()]).toMatchObject([
      { eventTime: "1970-01-01T00:00:00.000000Z", series: { lastObservedTime: "1970-01-01T00:02:29.000000Z" } },
    ]);
  });

  it("cuts an object with much news short, says so once, and leaves others alone", async () => {
    const { clock, events, reported, tell } = start();
    for (let count = 0; count < 1_000; count++) tell("Flaps", `${count} times`);
    tell("Drained", "", "worker-1");
    await clock.advance(0);
    expect([events.writes, events.told.at(-1)]).toEqual([26, "Drained 1"]);
    expect(reported).toEqual([expect.objectContaining({ code: "TooManyEvents" })]);
    await clock.advance(minuteMs);
    tell("Flaps", "at last");
    await clock.advance(0);
    expect(events.writes).toBe(27);
  });

  it("keeps the latest of what it cannot write, in bounded memory, and goes on when it can", async () => {
    const { clock, events, reported, tell } = start();
    events.failure = new KubeError("POST", "ConnectionLost");
    for (let count = 0; count < 3_000; count++) tell("Drained", "", `worker-${count}`);
    await clock.advance(5 * minuteMs);
    expect(events.writes).toBeLessThan(20);
    expect(reported.length).toBeLessThan(7);
    events.failure = undefined;
    await clock.advance(minuteMs);
    expect([...events.stored.keys()].map((name) => name.split(".")[0])).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `worker-${2_000 + index}`),
    );
  });

  it("gives up what the server refuses, and tries the same again when it comes again", async () => {
    const { clock, events, reported, tell } = start();
    events.failure = new KubeError("POST", "Forbidden", { status: 403 });
    tell("Drained");
    await clock.advance(10 * minuteMs);
    expect([events.writes, reported]).toEqual([1, [events.failure]]);
    events.failure = undefined;
    tell("Drained");
    await clock.advance(0);
    expect(events.told).toEqual(["Drained 1"]);
  });

  it("makes one event of news whose answer was lost", async () => {
    const { clock, events, tell } = start();
    events.isDeaf = true;
    tell("Drained");
    await clock.advance(0);
    events.isDeaf = false;
    tell("Drained");
    await clock.advance(2 * minuteMs);
    expect(events.told).toEqual(["Drained 2"]);
  });

  it("makes a new event where the server has forgotten the old one", async () => {
    const { clock, events, tell } = start();
    tell("Drained");
    await clock.advance(minuteMs);
    events.stored.clear();
    tell("Drained");
    await clock.advance(minuteMs);
    expect(events.told).toEqual(["Drained 1"]);
    await clock.advance(40 * minuteMs);
    tell("Drained"); // after so long it is news again
    await clock.advance(0);
    expect(events.told).toEqual(["Drained 1", "Drained 1"]);
  });

  it("writes what is left when it ends", async () => {
    const { clock, events, recorder, tell } = start();
    tell("Drained");
    await clock.advance(0);
    for (let count = 0; count < 5; count++) tell("Drained");
    tell("RebootNode");
    const ended = recorder[Symbol.asyncDispose]();
    tell("TooLate");
    await ended;
    expect(events.told).toEqual(["Drained 6", "RebootNode 1"]);
  });

  it("ends within two seconds though the server takes nothing", async () => {
    const { clock, events, recorder, tell } = start();
    events.failure = new KubeError("POST", "ServiceUnavailable", { status: 503, retryAfterMs: minuteMs });
    tell("Drained");
    await clock.advance(0);
    const ended = recorder[Symbol.asyncDispose]();
    await clock.advance(2_000);
    await ended;
    expect(events.writes).toBe(1);
  });

  it("throws nothing at its caller", () => {
    const { recorder, reported } = start();
    const broken: unknown = { type: "Normal" };
    const record: (news: never) => void = (each) => {
      recorder.record(each);
    };
    expect(() => {
      Reflect.apply(record, undefined, [broken]);
    }).not.toThrow();
    expect(reported).toHaveLength(1);
  });
});
