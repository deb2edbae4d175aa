// SPDX-License-Identifier: Apache-2.0
/**
 * createReadableStream turns JSON log lines into text: "21:08:33.120 INFO  plan applied  node=worker-1 steps=3".
 * It replaces pino-pretty, which takes five times as long to load and adds twelve packages to each bundle.
 */
import { styleText } from "node:util";

/** Destination of log lines. */
export interface LogStream {
  readonly isTTY?: boolean;
  write(line: string): unknown;
}

/** Returns a stream that takes the JSON lines of a logger and writes them to `stream` as text, in colour on a terminal. */
export function createReadableStream(stream: LogStream): LogStream {
  const paint: Paint = (style, text) =>
    stream.isTTY === true ? styleText(style, text, { validateStream: false }) : text;
  return { write: (line) => stream.write(render(line, paint)) };
}

type Paint = (style: "red" | "yellow" | "green" | "gray", text: string) => string;

const styles: Readonly<Record<string, Parameters<Paint>[0]>> = { error: "red", warn: "yellow", info: "green" };

function render(line: string, paint: Paint): string {
  const entry: unknown = JSON.parse(line);
  if (!isObject(entry)) return line;
  const { level, time, msg, error, code, stack, ...fields } = entry;
  const word = String(level);
  const clock = new Date(String(time)).toTimeString().slice(0, 8) + String(time).slice(19, 23);
  const others = error === undefined && code !== undefined ? { code, ...fields } : fields; // of an error, the text has it
  const shown = Object.entries(others)
    .filter(([name]) => name !== "service") // usually only one process writes to a terminal
    .map(([name, value]) => ` ${paint("gray", `${name}=`)}${plain(value)}`);
  const head = `${paint("gray", clock)} ${paint(styles[word] ?? "gray", word.toUpperCase().padEnd(5))} ${String(msg)}`;
  const complaint = error === undefined ? "" : `: ${paint("red", textOf(error))}`;
  const trace = stack === undefined ? "" : `\n${paint("red", textOf(stack))}`;
  return `${head}${shown.length > 0 ? " " : ""}${shown.join("")}${complaint}${trace}\n`;
}

function plain(value: unknown): string {
  return typeof value === "string" && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
