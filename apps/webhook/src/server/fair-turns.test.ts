// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { FairTurns } from "./fair-turns.ts";

/** Turns whose time and event loop the test controls. `ran` has the clients in the order of their reviews. */
function setUp({ maxWaiting = 6, maxWaitingPerClient = 4 } = {}) {
  const pending: (() => void)[] = [];
  const ran: string[] = [];
  const refused: string[] = [];
  const clock = { ms: 0 };
  const later = (run: () => void) => pending.push(run);
  const turns = new FairTurns({ maxWaiting, maxWaitingPerClient, maxWaitMs: 5_000, nowMs: () => clock.ms, later });
  const review = async (client: string) => ((await turns.take(client)) ? ran : refused).push(client);
  const step = async () => {
    pending.shift()?.();
    await new Promise(setImmediate);
  };
  return { ran, refused, clock, step, send: (clients: string) => Promise.all(clients.split("").map(review)), pending };
}

describe("FairTurns", () => {
  it("runs a review at once if none runs, and one in each turn of the event loop", async () => {
    const it = setUp();
    void it.send("aaa");
    await Promise.resolve();
    expect(it.ran).toEqual(["a"]);
    await it.step();
    expect(it.ran).toEqual(["a", "a"]);
    await it.step();
    await it.step();
    expect(it.ran).toEqual(["a", "a", "a"]);
    expect(it.pending).toEqual([]);
  });

  it("serves a client with one review after at most one review of each other client", async () => {
    const it = setUp();
    void it.send("aaaab");
    for (let turn = 0; turn < 5; turn++) await it.step();
    expect(it.ran.join("")).toBe("aabaa");
  });

  it("refuses a client's reviews beyond its limit, and takes those of others", async () => {
    const it = setUp();
    void it.send("aaaaaaab");
    for (let turn = 0; turn < 9; turn++) await it.step();
    expect([it.ran.join(""), it.refused.join("")]).toEqual(["aabaaa", "aa"]);
  });

  it("makes room for a client with few reviews by refusing one of the client with the most", async () => {
    const it = setUp({ maxWaiting: 4 });
    void it.send("aaaaab");
    for (let turn = 0; turn < 9; turn++) await it.step();
    expect([it.ran.join(""), it.refused.join("")]).toEqual(["aabaa", "a"]);
  });

  it("refuses reviews that waited too long, without a turn", async () => {
    const it = setUp();
    void it.send("aab");
    it.clock.ms = 5_001;
    void it.send("c");
    await it.step();
    expect([it.ran.join(""), it.refused.join("")]).toEqual(["ac", "ab"]);
  });
});
