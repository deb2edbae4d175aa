// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { KernelEvent, KernelEvents } from "@switchyard/host";
import { EventEmitter, on } from "node:events";
import { setImmediate } from "node:timers/promises";
import { createKernelFeed } from "./kernel-feed.ts";

const changed = (name: string): KernelEvent => ({ kind: "link", name });

describe("createKernelFeed", () => {
  it("passes each event to all listeners by one watch, which ends with the last listener", async () => {
    const { events, watches, emit } = fakeEvents();
    const feed = createKernelFeed(events, { onEnd: () => undefined });
    const seen: string[] = [];
    const listen = (who: string) => feed.subscribe((event) => seen.push(`${who} ${"name" in event ? event.name : ""}`));
    expect(watches()).toEqual({ begun: 0, running: 0 });
    const stops = [listen("a"), listen("b")];
    await emit(changed("eth0"));
    stops[0]?.();
    await emit(changed("eth1"));
    expect(seen).toEqual(["a eth0", "b eth0", "b eth1"]);
    expect(watches()).toEqual({ begun: 1, running: 1 });
    stops[1]?.();
    await setImmediate();
    expect(watches()).toEqual({ begun: 1, running: 0 });
    const again = listen("c");
    await emit(changed("eth2"));
    again();
    expect(seen.at(-1)).toBe("c eth2");
  });

  it("reports once that the kernel ended the events, and not that nobody listens any more", async () => {
    const { events, emit } = fakeEvents();
    const ends: unknown[] = [];
    const feed = createKernelFeed(events, { onEnd: (error) => ends.push(error) });
    feed.subscribe(() => undefined)();
    await setImmediate();
    expect(ends).toEqual([]);
    const stops = [feed.subscribe(() => undefined), feed.subscribe(() => undefined)];
    await emit(new Error("ended"));
    expect(ends).toEqual([new Error("ended")]);
    for (const stop of stops) stop();
  });

  function fakeEvents() {
    const emitter = new EventEmitter();
    let begun = 0;
    let running = 0;
    const events: KernelEvents = {
      async *watch(signal) {
        begun += 1;
        running += 1;
        try {
          for await (const [event] of on(emitter, "event", { signal })) yield event as KernelEvent;
        } finally {
          running -= 1;
        }
      },
    };
    return {
      events,
      watches: () => ({ begun, running }),
      async emit(event: KernelEvent | Error): Promise<void> {
        emitter.emit(event instanceof Error ? "error" : "event", event);
        await setImmediate(); // lets the feed read the event
      },
    };
  }
});
