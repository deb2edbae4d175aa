// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFileAges } from "./file-ages.ts";

const now = Date.UTC(2026, 10, 28);
const minute = 60_000;

describe("createFileAges", () => {
  it.each([
    { what: "one that has just been written", changedMs: now, ageMs: 0 },
    { what: "one that is older than the process", changedMs: now - 5 * minute, ageMs: 5 * minute },
    { what: "one that a clock wrote which was in 1970", changedMs: 3 * minute, ageMs: 0 },
    { what: "one that a clock wrote which was years ahead", changedMs: Date.UTC(2040, 0), ageMs: 0 },
    { what: "one that a clock wrote which was a day late", changedMs: now - 24 * 60 * minute, ageMs: 0 },
  ])("says the age of $what, and measures it from then on", ({ changedMs, ageMs }) => {
    const world = { wallMs: now, elapsedMs: 500 };
    const ageOf = createFileAges({
      wallMs: () => world.wallMs,
      elapsedMs: () => world.elapsedMs,
      uptimeMs: () => 10 * minute,
    });
    expect(ageOf("/run/a.sock", changedMs)).toBe(ageMs);
    world.elapsedMs += 2 * minute;
    for (const wallMs of [now + 2 * minute, 0, Date.UTC(2040, 0)]) {
      world.wallMs = wallMs; // somebody sets the clock
      expect(ageOf("/run/a.sock", changedMs)).toBe(ageMs + 2 * minute);
    }
    world.wallMs = now + 2 * minute;
    expect([ageOf("/run/a.sock", now + minute), ageOf("/run/b.sock", now)]).toEqual([minute, 2 * minute]);
  });
});
