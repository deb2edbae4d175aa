// SPDX-License-Identifier: Apache-2.0
/**
 * followShiftedClock shifts the wall clock of the process in which it is called, as a file says while the process runs. Monotonic
 * clocks go on, as they do when the clock of a machine is set. programWithShiftedClock writes a program that begins with it.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Writes a file for Node.js that shifts its clock and then runs `main`, and returns its path. The shift is 0 at first. */
export async function programWithShiftedClock(main: string, directory: string): Promise<string> {
  const program = join(directory, "main.mjs");
  await shiftClock(directory, 0);
  const here = JSON.stringify(fileURLToPath(import.meta.url));
  const lines = [
    `import { followShiftedClock } from ${here};`,
    `followShiftedClock(${JSON.stringify(shiftFile(directory))});`,
    `await import(${JSON.stringify(main)});`,
  ];
  await writeFile(program, `${lines.join("\n")}\n`);
  return program;
}

/** Shifts the clock of the program in `directory` within 200 ms. */
export async function shiftClock(directory: string, ms: number): Promise<void> {
  await writeFile(shiftFile(directory), `${ms}`);
}

/**
 * `file` has the shift in milliseconds.
 * @public The program that programWithShiftedClock writes calls it.
 */
export function followShiftedClock(file: string): void {
  let read = { atMs: -Infinity, shiftMs: 0 };
  const shiftMs = (): number => {
    const atMs = performance.now();
    if (atMs - read.atMs > readEveryMs) read = { atMs, shiftMs: Number(readFileSync(file, "utf8")) };
    return read.shiftMs;
  };
  globalThis.Date = new Proxy(Date, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + shiftMs()] : args, newTarget) as object,
    get(target, key) {
      if (key === "now") return () => target.now() + shiftMs();
      return Reflect.get(target, key) as unknown;
    },
  });
}

const readEveryMs = 200;

function shiftFile(directory: string): string {
  return join(directory, "clock-shift");
}
