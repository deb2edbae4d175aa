// SPDX-License-Identifier: Apache-2.0
/**
 * Renders recorded lines as an animated SVG: a terminal that shows the last lines and scrolls as they came. It needs no
 * script. Readers who prefer reduced motion see the last lines only.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface SvgOptions {
  /** Shown above the terminal. */
  readonly title: string;
  /** Lines that are visible at once. */
  readonly rows: number;
  /** Longer lines are cut. */
  readonly columns: number;
}

/** A line of standard output. */
interface Line {
  /** Since the first line. */
  readonly atMs: number;
  readonly text: string;
}

interface Capture {
  readonly lines: readonly Line[];
  /** 128 if a signal ended the program. */
  readonly exitCode: number;
}

/** Longer pauses are shortened to this. */
const maxPauseMs = 1_500;

/** Lines that came within this time of each other appear together. */
const togetherMs = 60;

/** How long the last lines stay before the animation starts again. */
const holdMs = 6_000;

const size = { line: 18, column: 7.25, font: 12, padding: 14, title: 34 };

/** A document with one animation, whose steps move all lines up. */
export function renderSvg(lines: readonly Line[], { title, rows, columns }: SvgOptions): string {
  const width = Math.ceil(columns * size.column) + 2 * size.padding;
  const screen = rows * size.line;
  const height = size.title + screen + size.padding;
  const frames = framesOf(lines);
  const endMs = (frames.at(-1)?.atMs ?? 0) + holdMs;
  // Below the screen at first; a line is visible once it has moved up to the last row.
  const shift = (count: number): number => screen - count * size.line;
  const keyframes = frames.map(({ atMs, count }) => {
    return `${((100 * atMs) / endMs).toFixed(3)}% { transform: translateY(${shift(count)}px); }`;
  });

  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<title>${escape(title)}</title>
<style>
  text { font: ${size.font}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre; }
  .title { fill: #8b98a9; }
  .command { fill: #7fdbca; }
  .output { fill: #9fb0c3; }
  .lines { transform: translateY(${shift(lines.length)}px); animation: scroll ${(endMs / 1_000).toFixed(2)}s step-end infinite; }
  @keyframes scroll {
    ${keyframes.join("\n    ")}
  }
  @media (prefers-reduced-motion: reduce) { .lines { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0f1723"/>
<text class="title" x="${size.padding}" y="22">${escape(title)}</text>
<clipPath id="screen"><rect x="0" y="${size.title}" width="${width}" height="${screen}"/></clipPath>
<g clip-path="url(#screen)"><g transform="translate(${size.padding} ${size.title})"><g class="lines">
${lines.map(({ text }, at) => renderLine(cut(text, columns), at)).join("\n")}
</g></g></g>
</svg>
`;
}

/** How many lines are there at which time. The first frame is at 0. */
function framesOf(lines: readonly Line[]): readonly { readonly atMs: number; readonly count: number }[] {
  const frames = [{ atMs: 0, count: 0 }];
  let shownMs = 0;
  for (const [at, line] of lines.entries()) {
    const pauseMs = line.atMs - (lines[at - 1]?.atMs ?? 0);
    shownMs += Math.min(pauseMs, maxPauseMs);
    const last = frames.at(-1);
    if (last !== undefined && shownMs - last.atMs < togetherMs) frames[frames.length - 1] = { ...last, count: at + 1 };
    else frames.push({ atMs: shownMs, count: at + 1 });
  }
  return frames;
}

function renderLine(text: string, at: number): string {
  return `<text class="${classOf(text)}" xml:space="preserve" y="${at * size.line + 13}">${escape(text)}</text>`;
}

/** The demo marks commands by "$ " behind the time, and their output by "|". */
function classOf(text: string): "command" | "output" | "line" {
  if (/^ *[\d.]+ s {2}\$ /.test(text)) return "command";
  return /^ +\|/.test(text) ? "output" : "line";
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

/** Text for XML. Control characters, which XML forbids, are shown as "?". */
function escape(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, "?")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/**
 * Runs a program and records the lines that it prints, with their times. Copies the output to this process's own. Rejects if the
 * program cannot be started.
 */
export async function capture(program: string, args: readonly string[]): Promise<Capture> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => {
      resolve(status ?? 128);
    });
  });
  const lines = new Array<Line>();
  let startMs: number | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    startMs ??= performance.now();
    lines.push({ atMs: performance.now() - startMs, text });
    console.log(text);
  }
  return { lines, exitCode: await ended };
}
