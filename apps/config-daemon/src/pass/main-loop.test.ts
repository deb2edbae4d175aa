// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createMainLoop } from "./main-loop.ts";

const minuteMs = 60_000;

describe("the main loop", () => {
  it.each<{ does: string; minutes: number; live: (loop: ReturnType<typeof createMainLoop>) => void; problems: string }>(
    [
      { does: "has no problem while it waits for the API server", minutes: 600, live: () => undefined, problems: "" },
      {
        does: "has no problem while a pass makes progress",
        minutes: 14,
        live: (loop) => {
          loop.progress();
        },
        problems: "",
      },
      {
        does: "has a problem if a pass makes no progress",
        minutes: 16,
        live: (loop) => {
          loop.progress();
        },
        problems: "the main loop has made no progress for 16 min",
      },
      {
        does: "has no problem while it waits for a change",
        minutes: 600,
        live: (loop) => {
          loop.progress();
          loop.idle(undefined);
        },
        problems: "",
      },
      {
        does: "has no problem while it waits for the next pass",
        minutes: 19,
        live: (loop) => {
          loop.idle(5 * minuteMs);
        },
        problems: "",
      },
      {
        does: "has a problem if the next pass does not start",
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
