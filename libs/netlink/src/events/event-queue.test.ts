// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { EventQueue } from "./event-queue.ts";

function open(limit = 4) {
  const stop = new AbortController();
  const queue = new EventQueue<string>({ signal: stop.signal, keyOf: (event) => event, overrun: "overrun", limit });
  return { queue, stop, reader: queue[Symbol.asyncIterator]() };
}

async function take(reader: AsyncIterator<string>, count: number): Promise<readonly unknown[]> {
  const taken: unknown[] = [];
  for (let i = 0; i < count; i++) taken.push((await reader.next()).value);
  return taken;
}

describe("EventQueue", () => {
  it("yields events in the order in which they were pushed", async () => {
    const { queue, reader } = open();
    queue.push("one");
    queue.push("two");
    expect(await take(reader, 2)).toEqual(["one", "two"]);
  });

  it("wakes a waiting reader", async () => {
    const { queue, reader } = open();
    const next = reader.next();
    queue.push("late");
    expect(await next).toEqual({ value: "late", done: false });
  });

  it("yields only the last of several events with the same key", async () => {
    const { queue, reader } = open();
    for (const event of ["a", "b", "a"]) queue.push(event);
    expect(await take(reader, 2)).toEqual(["b", "a"]);
    queue.push("a");
    expect(await take(reader, 1)).toEqual(["a"]);
  });

  it("replaces more events than its limit by one overrun event", async () => {
    const { queue, reader } = open(4);
    for (const event of ["1", "2", "3", "4", "5", "6"]) queue.push(event);
    expect(await take(reader, 2)).toEqual(["overrun", "6"]);
  });

  it("ends at once when its signal aborts, with or without remaining events", async () => {
    const waiting = open();
    const next = waiting.reader.next();
    waiting.stop.abort();
    expect(await next).toEqual({ value: undefined, done: true });

    const behind = open();
    behind.queue.push("unread");
    behind.stop.abort();
    expect(await behind.reader.next()).toEqual({ value: undefined, done: true });
    expect(behind.queue.closed.aborted).toBe(true);
  });

  it("is closed from the start if its signal has aborted before", () => {
    const queue = new EventQueue({ signal: AbortSignal.abort(), keyOf: String, overrun: "overrun" });
    expect(queue.closed.aborted).toBe(true);
  });

  it("closes when its reader leaves the loop", async () => {
    const { queue } = open();
    queue.push("one");
    for await (const event of queue) if (event === "one") break;
    expect(queue.closed.aborted).toBe(true);
  });

  it("throws the failure after the remaining events and closes", async () => {
    const { queue, reader } = open();
    queue.push("one");
    queue.fail(new Error("gone"));
    expect(await take(reader, 1)).toEqual(["one"]);
    await expect(reader.next()).rejects.toThrow("gone");
    expect(queue.closed.aborted).toBe(true);
  });
});
