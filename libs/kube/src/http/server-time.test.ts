// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createServerTime } from "./server-time.ts";
import type { Transport, TransportRequest } from "./transport.ts";

const noon = Date.UTC(2026, 10, 28, 12);

function setUp() {
  const world = { wallMs: 0, elapsedMs: 1_000, serverMs: noon };
  const time = createServerTime({ clock: { nowMs: () => world.elapsedMs }, wallMs: () => world.wallMs });
  const server = {
    request({ onServerTime, path }: TransportRequest) {
      onServerTime?.(world.serverMs);
      return Promise.resolve(path);
    },
  } as Partial<Transport> as Transport;
  const transport = time.follow(server);
  return {
    world,
    time,
    ask: (more: Partial<TransportRequest> = {}) => transport.request({ method: "GET", path: "/version", ...more }),
  };
}

describe("createServerTime", () => {
  it.each([
    { clock: "in 1970", wallMs: 5_000 },
    { clock: "years ahead", wallMs: Date.UTC(2040, 0) },
  ])(
    "is that of the API server on a machine whose clock is $clock, also after somebody sets it",
    async ({ wallMs }) => {
      const { world, time, ask } = setUp();
      world.wallMs = wallMs;
      expect(time.nowMs()).toBe(wallMs);
      expect(await ask()).toBe("/version");
      expect(Math.abs(time.nowMs() - noon)).toBeLessThan(1_000);
      world.wallMs = noon;
      world.elapsedMs += 60_000;
      expect(Math.abs(time.nowMs() - noon - 60_000)).toBeLessThan(1_000);
    },
  );

  it("goes on evenly while responses have whole seconds, and follows a clock of the server that somebody sets", async () => {
    const { world, time, ask } = setUp();
    await ask();
    const before = time.nowMs();
    world.elapsedMs += 900;
    await ask();
    expect(time.nowMs() - before).toBe(900);
    world.serverMs = Date.UTC(2040, 0);
    await ask();
    expect(Math.abs(time.nowMs() - world.serverMs)).toBeLessThan(1_000);
  });

  it("comes nearer to the clock of the server with each response, and is not ahead of it", async () => {
    const { world, time, ask } = setUp();
    const truth = noon + 700; // shown as noon
    const errors: number[] = [];
    for (const passedMs of [0, 400, 650, 1_310]) {
      world.elapsedMs = 1_000 + passedMs;
      world.serverMs = Math.floor((truth + passedMs) / 1_000) * 1_000;
      await ask();
      errors.push(truth + passedMs - time.nowMs());
    }
    expect(errors).toEqual([700, 100, 100, 10]);
  });

  it("tells callers, too", async () => {
    const { ask } = setUp();
    const told: number[] = [];
    await ask({ onServerTime: (ms) => told.push(ms) });
    expect(told).toEqual([noon]);
  });
});
