// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it } from "@jest/globals";
import type { KernelEvent } from "@switchyard/host";
import { createManualClock } from "@switchyard/host/testing";
import { clockOf } from "../testing/clock-of.ts";
import type { KernelListener } from "./kernel-feed.ts";
import { createKernelSource } from "./kernel-source.ts";

const ofPf: KernelEvent = { kind: "pci", action: "change", pciAddress: "0000:01:00.0" };
const ofContainer: KernelEvent = { kind: "link", name: "veth0" };

describe("createKernelSource", () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  it("adds the key when a burst of events of NICs has ended", async () => {
    const { emit, added, time } = start();
    for (let nth = 0; nth < 3; nth++) {
      emit(ofPf);
      await time.advance(50);
    }
    expect(added()).toBe(0);
    await time.advance(50);
    expect(added()).toBe(1);
    emit(ofContainer);
    await time.advance(1_000);
    expect(added()).toBe(1);
  });

  it("adds the key after 400 ms if the events continue", async () => {
    const { emit, added, time } = start();
    for (let nth = 0; nth < 10; nth++) {
      emit(ofPf);
      await time.advance(50);
    }
    expect(added()).toBe(1);
  });

  it("adds nothing after it was stopped", async () => {
    const { emit, added, time } = start();
    emit(ofPf);
    for (const stop of stops.splice(0)) stop();
    await time.advance(1_000);
    expect(added()).toBe(0);
  });

  it("adds nothing for the events that the last observation of a pass could see", async () => {
    const { source, emit, added, time } = start();
    await source.during(() => {
      source.observing();
      emit(ofPf); // the echo of a step
      source.observing();
      return Promise.resolve();
    });
    await time.advance(1_000);
    expect(added()).toBe(0);
  });

  it("adds the key once, when the pass ends, for events after its last observation", async () => {
    const { source, emit, added, time } = start();
    await source.during(async () => {
      source.observing();
      emit(ofPf);
      emit(ofPf);
      await time.advance(1_000);
      expect(added()).toBe(0);
    });
    await time.advance(1_000);
    expect(added()).toBe(1);
  });

  it("adds the key for events during a pass that fails", async () => {
    const { source, emit, added, time } = start();
    const pass = source.during(() => {
      emit(ofPf);
      return Promise.reject(new Error("the API server is gone"));
    });
    await expect(pass).rejects.toThrow("the API server is gone");
    await time.advance(1_000);
    expect(added()).toBe(1);
  });

  function start() {
    const time = createManualClock();
    const listeners = new Set<KernelListener>();
    const added: string[] = [];
    const feed = {
      subscribe(listener: KernelListener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const source = createKernelSource(feed, "worker-1", { clock: clockOf(time) });
    stops.push(source.start((key) => added.push(key)));
    return {
      source,
      time,
      emit(event: KernelEvent): void {
        for (const listener of listeners) listener(event);
      },
      added: () => added.length,
    };
  }
});
