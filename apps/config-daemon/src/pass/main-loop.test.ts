// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createMainLoop } from "./main-loop.ts";

const minuteMs = 60_000;

describe("the main loop", () => {
  it.each<{ does: string; minutes: number; live: (loop: ReturnType<typeof createMainLoop>) => void; problems: string }>(
    [
      { does: "waits for the API server for hours", minutes: 600, live: () => undefined, problems: "" },
      {
        does: "has a pass that gets on",
        minutes: 14,
        live: (loop) => {
          loop.progress();
        },
        problems: "",
      },
      {
        does: "has a pass that stands still",
        minutes: 16,
        live: (loop) => {
          loop.progress();
        },
        problems: "the main loop has made no progress for 16 min",
      },
      {
        does: "rests until something changes",
        minutes: 600,
        live: (loop) => {
          loop.progress();
          loop.idle(undefined);
        },
        problems: "",
      },
      {
        does: "rests for five minutes",
        minutes: 19,
        live: (loop) => {
          loop.idle(5 * minuteMs);
        },
        problems: "",
      },
      {
        does: "does not wake up from that",
        minutes: 21,
        live: (loop) => {
          loop.idle(5 * minuteMs);
        },
        problems: "the main loop has made no progress for 16 min",
      },
    ],
  )("$does: $problems", ({ minutes, live, problems }) => {
    let nowMs = 0;
    const loop = createMainLoop({ nowMs: () => nowMs });
    live(loop);
    nowMs = minutes * minuteMs;
    expect(loop.problems().join()).toBe(problems);
  });
});
