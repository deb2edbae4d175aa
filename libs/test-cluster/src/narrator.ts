// SPDX-License-Identifier: Apache-2.0
/**
 * createNarrator makes the output of the demo: lines with the time since the start, for a terminal or a plain log.
 * Usage: `const narrator = createNarrator(process.stdout, process.env); narrator.scene("A policy is applied");`
 */

export interface Narrator {
  /** Writes the title of a new part. */
  scene(title: string): void;
  /** Writes what `who` did or what happened to it: "worker-1", "kubectl". */
  line(who: string, text: string): void;
  /** Writes the output of a command. */
  output(text: string): void;
  /** Returns the seconds since the start. */
  elapsedS(): number;
}

export interface NarratorStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Uses colours on a terminal, unless NO_COLOR is set. */
export function createNarrator(stream: NarratorStream, env: Readonly<Record<string, string | undefined>>): Narrator {
  const startMs = performance.now();
  const isColoured = stream.isTTY === true && !env["NO_COLOR"];
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const elapsedS = (): number => (performance.now() - startMs) / 1000;
  const stamp = (): string => paint(2, `${elapsedS().toFixed(1).padStart(6)} s`);

  return {
    elapsedS,
    scene(title) {
      stream.write(`\n${stamp()}  ${paint(1, title)}\n`);
    },
    line(who, text) {
      stream.write(`${stamp()}  ${paint(36, who.padEnd(9))} ${text}\n`);
    },
    output(text) {
      for (const row of text.trimEnd().split("\n")) stream.write(`          ${paint(2, "|")} ${row}\n`);
    },
  };
}

/** Writes nothing, for tests. */
export const silentNarrator: Narrator = {
  scene: () => undefined,
  line: () => undefined,
  output: () => undefined,
  elapsedS: () => 0,
};
