// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { agoText } from "./snapshot.ts";

const now = "2026-11-28T12:00:00Z";
const live = { isClock: true, takenAtMs: Date.parse(now) };

describe("agoText", () => {
  it.each([
    { time: now, text: ", 0 s ago" },
    { time: "2026-11-28T11:58:31.500000Z", text: ", 89 s ago" },
    { time: "2026-11-28T11:46:00Z", text: ", 14 min ago" },
    { time: "2026-11-28T03:00:00Z", text: ", 9 h ago" },
    { time: "2026-11-25T12:00:00Z", text: ", 3 days ago" },
    { time: "2026-11-28T12:00:05Z", text: ", 0 s ago" },
    { time: "yesterday", text: "" },
    { time: undefined, text: "" },
  ])("$time -> $text", ({ time, text }) => {
    expect(agoText(time, live)).toBe(text);
  });

  it("says nothing about files", () => {
    expect(agoText(now, { ...live, isClock: false })).toBe("");
  });
});
