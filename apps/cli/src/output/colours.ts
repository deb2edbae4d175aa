// SPDX-License-Identifier: Apache-2.0
/**
 * createColours returns functions that colour text if the output is a terminal and NO_COLOR is not set
 * (https://no-color.org).
 * Usage: `createColours(process.stdout, process.env).green("+")`.
 */
import type { Output, Terminal } from "../terminal.ts";

export interface Colours {
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
  bold(text: string): string;
}

export function createColours(output: Output, env: Terminal["env"]): Colours {
  const isOn = output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint =
    (start: number, end: number) =>
    (text: string): string =>
      isOn ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { green: paint(32, 39), yellow: paint(33, 39), red: paint(31, 39), bold: paint(1, 22) };
}
