// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it } from "@jest/globals";
import type { KernelEvent, KernelEvents } from "@switchyard/host";
import { EventEmitter, on } from "node:events";
import { setImmediate } from "node:timers/promises";
import { createKernelSource, type KernelSource } from "./kernel-source.ts";

const ofPf: KernelEvent = { kind: "pci", action: "change", pciAddress: "0000:01:00.0" };
const ofContainer: KernelEvent = { kind: "link", name: "veth0" };

describe("createKernelSource", () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  it("adds the key for each event of a NIC while no pass runs", async () => {
    const { emit, added } = start();
    await emit(ofPf);
    await emit(ofContainer);
    await emit(ofPf);
    expect(added()).toBe(2);
  });

  it("adds nothing for the events that the last observation of a pass could see", async () => {
    const { source, emit, added } = start();
    await source.during(async () => {
      source.observing();
      await emit(ofPf); // the echo of a step
      source.observing();
    });
    expect(added()).toBe(0);
  });

  it("adds the key once, when the pass ends, for events after its last observation", async () => {
    const { source, emit, added } = start();
    await source.during(async () => {
      source.observing();
      await emit(ofPf);
      await emit(ofPf);
      expect(added()).toBe(0);
    });
    expect(added()).toBe(1);
  });

  it("adds the key for events during a pass that fails", async () => {
    const { source, emit, added } = start();
    const pass = source.during(async () => {
      await emit(ofPf);
      throw new Error("the API server is gone");
    });
    await expect(pass).rejects.toThrow("the API server is gone");
    expect(added()).toBe(1);
  });

  function start(): { source: KernelSource; emit: (event: KernelEvent) => Promise<void>; added: () => number } {
    const emitter = new EventEmitter();
    const events: KernelEvents = {
      async *watch(signal) {
        for await (const [event] of on(emitter, "event", { signal })) yield event as KernelEvent;
      },
    };
    const added: string[] = [];
    const source = createKernelSource(events, "worker-1", () => undefined);
    stops.push(source.start((key) => added.push(key)));
    return {
      source,
      async emit(event) {
        emitter.emit("event", event);
        await setImmediate(); // lets the source read the event
      },
      added: () => added.length,
    };
  }
});
