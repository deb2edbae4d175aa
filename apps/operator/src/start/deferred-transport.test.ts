// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Clock, Transport, TransportRequest } from "@switchyard/kube";
import { deferTransport } from "./deferred-transport.ts";

const list: TransportRequest = { method: "GET", path: "/api/v1/pods" };

function setUp() {
  const sent: TransportRequest[] = [];
  const transport: Transport = {
    namespace: "ns",
    request(request) {
      sent.push(request);
      return Promise.resolve("answer");
    },
    watch() {
      throw new TypeError("not to be called");
    },
    [Symbol.asyncDispose]: () => Promise.reject(new Error("not ours to dispose of")),
  };
  const timers = new Set<() => void>();
  const clock: Clock = {
    nowMs: () => 0,
    after(_, run) {
      timers.add(run);
      return () => timers.delete(run);
    },
  };
  const end = new AbortController();
  return { sent, timers, end, deferred: deferTransport(transport, end.signal, clock) };
}

describe("deferTransport", () => {
  it.each([
    {
      until: "the node states are written",
      act: ({ deferred }: ReturnType<typeof setUp>) => {
        deferred.release();
      },
    },
    {
      until: "the deadline has passed",
      act: ({ timers }: ReturnType<typeof setUp>) => {
        timers.forEach((run) => {
          run();
        });
      },
    },
    {
      until: "the process ends",
      act: ({ end }: ReturnType<typeof setUp>) => {
        end.abort();
      },
    },
  ])("holds requests back until $until", async ({ act }) => {
    const it = setUp();
    const held = it.deferred.transport.request(list);
    await Promise.resolve();
    expect(it.sent).toEqual([]);
    act(it);
    expect(await held).toBe("answer");
    await it.deferred.transport.request(list);
    expect(it.sent).toEqual([list, list]);
    expect(it.timers.size).toBe(0);
  });

  it("does not dispose the transport", async () => {
    const { deferred } = setUp();
    await deferred.transport[Symbol.asyncDispose]();
    deferred.release();
  });
});
