// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { renderSvg } from "./recording.ts";

const options = { title: "npm run demo", rows: 3, columns: 20 };

describe("the SVG of a recording", () => {
  it("has each line, as text that XML allows", () => {
    const svg = renderSvg([{ atMs: 0, text: 'a < b & "c"\u0007' }], options);
    expect(svg).toContain(">a &lt; b &amp; &quot;c&quot;?</text>");
  });

  it("cuts long lines", () => {
    expect(renderSvg([{ atMs: 0, text: "x".repeat(30) }], options)).toContain(`>${"x".repeat(19)}…</text>`);
  });

  it("marks commands and their output", () => {
    const lines = ["   4.1 s  $ kubectl get x", "          | NAME", "   5.0 s  done"].map((text) => ({
      atMs: 0,
      text,
    }));
    const classes = [...renderSvg(lines, options).matchAll(/<text class="(\w+)" xml/g)].map(([, name]) => name);
    expect(classes).toEqual(["command", "output", "line"]);
  });

  it("moves up by one line at the time of each, and shortens long pauses", () => {
    const lines = [0, 1_000, 61_000].map((atMs) => ({ atMs, text: "x" }));
    const frames = [...renderSvg(lines, options).matchAll(/([\d.]+)% \{ transform: translateY\((-?\d+)px\)/g)];
    // 0 s, 1 s and 2.5 s of 8.5 s; the screen is 54 px high.
    expect(frames.map(([, percent, shift]) => [percent, shift])).toEqual([
      ["0.000", "36"],
      ["11.765", "18"],
      ["29.412", "0"],
    ]);
  });

  it("stands still for readers who prefer reduced motion, at the last lines", () => {
    const svg = renderSvg([{ atMs: 0, text: "x" }], options);
    expect(svg).toContain("@media (prefers-reduced-motion: reduce) { .lines { animation: none; } }");
    expect(svg).toContain(".lines { transform: translateY(36px);");
  });
});
