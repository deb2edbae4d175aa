// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createEventRecorder } from "./event-recorder.ts";
import type { EventToRecord } from "./render-event.ts";
import { KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

const minuteMs = 60_000;

/** Stores Events by name as the API server does. Rejects requests with `failure` while it is set. */
class Events {
  readonly stored = new Map<string, Record<string, unknown>>();
  writes = 0;
  failure: KubeError | undefined;
  /** Responses are lost: requests take effect and then fail. */
  losesResponses = false;
  /** The largest number of requests at the same time. */
  together = 0;
  #open = 0;

  readonly transport: Transport = {
    namespace: "ns",
    request: async (request) => {
      this.together = Math.max(this.together, ++this.#open);
      await Promise.resolve();
      this.#open--;
      return this.#serve(request);
    },
    watch: () => {
      throw new TypeError("unexpected watch");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };

  /** Reason and count of each Event. */
  get counts(): readonly string[] {
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
    if (this.losesResponses) throw new KubeError(method, "Timeout");
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
  const record = (reason: string, note = "", name = "worker-0") => {
    recorder.record({ ...news, reason, note, regarding: { ...news.regarding, metadata: { name } } });
  };
  return { clock, events, reported, recorder, record };
}

const news: EventToRecord = {
  regarding: { apiVersion: "v1", kind: "Node", metadata: { name: "worker-0" } },
  type: "Normal",
  reason: "",
  note: "",
};

describe("createEventRecorder", () => {
  it("throws for a controller name that the API server would reject", () => {
    const { transport } = new Events();
    const create = () =>
      createEventRecorder({ transport, controller: "SR-IOV operator", instance: "a", report: () => undefined });
    expect(create).toThrow(RangeError);
  });

  it("writes an event at once and its repetitions at most once a minute", async () => {
    const { clock, events, record } = start();
    record("Drained");
    await clock.advance(0);
    expect(events.counts).toEqual(["Drained 1"]);
    for (let seconds = 0; seconds < 150; seconds++) {
      record("Drained");
      await clock.advance(1_000);
    }
    expect([events.counts, events.writes]).toEqual([["Drained 121"], 3]);
    await clock.advance(10 * minuteMs);
    expect([events.counts, events.writes]).toEqual([["Drained 151"], 4]);
    expect([...events.stored.values()]).toMatchObject([
      { eventTime: "1970-01-01T00:00:00.000000Z", series: { lastObservedTime: "1970-01-01T00:02:29.000000Z" } },
    ]);
  });

  it("limits the events of one object, reports it once, and does not limit other objects", async () => {
    const { clock, events, reported, record } = start();
    for (let count = 0; count < 1_000; count++) record("Flaps", `${count} times`);
    record("Drained", "", "worker-1");
    await clock.advance(0);
    expect([events.writes, events.counts.at(-1)]).toEqual([26, "Drained 1"]);
    expect(reported).toEqual([expect.objectContaining({ code: "TooManyEvents" })]);
    await clock.advance(minuteMs);
    record("Flaps", "one more");
    await clock.advance(0);
    expect(events.writes).toBe(27);
  });

  it("keeps the latest 1,000 events while writes fail and writes them later", async () => {
    const { clock, events, reported, record } = start();
    events.failure = new KubeError("POST", "ConnectionLost");
    for (let count = 0; count < 3_000; count++) record("Drained", "", `worker-${count}`);
    await clock.advance(5 * minuteMs);
    expect(events.writes).toBeLessThan(20);
    expect(reported.length).toBeLessThan(7);
    events.failure = undefined;
    await clock.advance(minuteMs);
    expect([...events.stored.keys()].map((name) => name.split(".")[0])).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `worker-${2_000 + index}`),
    );
  });

  it("writes four events at the same time, and one after a failure", async () => {
    const { clock, events, record } = start();
    for (let count = 0; count < 30; count++) record("Drained", "", `worker-${count}`);
    await clock.advance(0);
    expect([events.writes, events.together]).toEqual([30, 4]);
    events.failure = new KubeError("POST", "ConnectionLost");
    record("Booted");
    await clock.advance(0);
    events.together = 0;
    for (let count = 0; count < 30; count++) record("Drained", "again", `worker-${count}`);
    await clock.advance(minuteMs);
    expect(events.together).toBe(1);
  });

  it("drops an event that the server rejects and sends it when it occurs again", async () => {
    const { clock, events, reported, record } = start();
    events.failure = new KubeError("POST", "Forbidden", { status: 403 });
    record("Drained");
    await clock.advance(10 * minuteMs);
    expect([events.writes, reported]).toEqual([1, [events.failure]]);
    events.failure = undefined;
    record("Drained");
    await clock.advance(0);
    expect(events.counts).toEqual(["Drained 1"]);
  });

  it("creates one Event when the response was lost", async () => {
    const { clock, events, record } = start();
    events.losesResponses = true;
    record("Drained");
    await clock.advance(0);
    events.losesResponses = false;
    record("Drained");
    await clock.advance(2 * minuteMs);
    expect(events.counts).toEqual(["Drained 2"]);
  });

  it("creates a new Event when the server has deleted the old one", async () => {
    const { clock, events, record } = start();
    record("Drained");
    await clock.advance(minuteMs);
    events.stored.clear();
    record("Drained");
    await clock.advance(minuteMs);
    expect(events.counts).toEqual(["Drained 1"]);
    await clock.advance(40 * minuteMs);
    record("Drained"); // after so long it becomes a new Event
    await clock.advance(0);
    expect(events.counts).toEqual(["Drained 1", "Drained 1"]);
  });

  it("writes the remaining events when it is disposed", async () => {
    const { clock, events, recorder, record } = start();
    record("Drained");
    await clock.advance(0);
    for (let count = 0; count < 5; count++) record("Drained");
    record("RebootNode");
    const ended = recorder[Symbol.asyncDispose]();
    record("TooLate");
    await ended;
    expect(events.counts).toEqual(["Drained 6", "RebootNode 1"]);
  });

  it("ends within two seconds when the server accepts no writes", async () => {
    const { clock, events, recorder, record } = start();
    events.failure = new KubeError("POST", "ServiceUnavailable", { status: 503, retryAfterMs: minuteMs });
    record("Drained");
    await clock.advance(0);
    const ended = recorder[Symbol.asyncDispose]();
    await clock.advance(2_000);
    await ended;
    expect(events.writes).toBe(1);
  });

  it("never throws at its caller", () => {
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
