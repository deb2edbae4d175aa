// SPDX-License-Identifier: Apache-2.0
/**
 * createLogger makes the logger of a process. It writes JSON lines to a pipe or file and readable text to a terminal. A line:
 * {"level":"info","time":"2026-11-20T21:08:33.120Z","service":"operator","msg":"plan applied","node":"worker-1","steps":3}.
 * The message comes first, then the field `error`, whose value is one line: the error with its causes. The stack is the last field, of
 * bugs, and at level debug of all errors. Lines are written synchronously, so a crash loses none.
 * Usage: `createLogger({ service: "operator", level: "info" }).log.info({ node, steps: 3 }, "plan applied")`.
 */
import { pino, stdTimeFunctions } from "pino";
import { createReadableStream, type LogStream } from "./readable-stream.ts";

/** Log levels, most severe first. */
export const logLevels = ["error", "warn", "info", "debug", "trace"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Fields of a log line by name. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line. The message is a constant text; values that vary go into fields. */
export interface LogMethod {
  (fields: LogFields, message: string): void;
  (message: string): void;
}

/** Writes log lines at each level. */
export type Logger = Readonly<Record<LogLevel, LogMethod>> & {
  /** Returns a logger that adds these fields to each line. */
  child(fields: LogFields): Logger;
};

/** The logger of a process, with its level. */
export interface RootLogger {
  readonly log: Logger;
  /** Sets the level of this logger and of all its children. */
  readonly setLevel: (level: LogLevel) => void;
}

const severity: Readonly<Record<LogLevel, number>> = { error: 50, warn: 40, info: 30, debug: 20, trace: 10 };

/** `service` is a field of each line. The default stream is stderr. */
export function createLogger(options: {
  readonly service: string;
  readonly level: LogLevel;
  readonly stream?: LogStream;
}): RootLogger {
  const { service, level, stream = process.stderr } = options;
  let least = severity[level];
  const log = pino(
    {
      // The level of a pino child is fixed when it is created. To change it later, pino passes all lines and the hook filters.
      level: "trace",
      hooks: {
        logMethod(line, write, lineSeverity) {
          if (lineSeverity < least) return;
          const [first, second]: readonly unknown[] = line;
          const fields = isFields(first)
            ? ordered(first, typeof second === "string" ? second : "", least <= severity.debug)
            : undefined;
          write.apply(this, fields === undefined ? line : [fields]);
        },
      },
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream.isTTY === true ? createReadableStream(stream) : stream,
  );
  return {
    log,
    setLevel: (next) => {
      least = severity[next];
    },
  };
}

function isFields(value: unknown): value is LogFields {
  return typeof value === "object" && value !== null;
}

/** Puts the message first and the error second, whose stack is last. */
function ordered({ error, ...fields }: LogFields, msg: string, isDebug: boolean): LogFields {
  if (error === undefined) return { msg, ...fields };
  const code = codeOf(error);
  const stack = code === undefined || isDebug ? stackOf(error) : undefined;
  return {
    msg,
    error: oneLine(error),
    ...(code !== undefined && { code }),
    ...fields,
    ...(stack !== undefined && { stack }),
  };
}

/** The message of an error with those of its causes that it does not have itself. */
function oneLine(error: unknown): string {
  if (typeof error !== "object" || error === null || !("message" in error)) return textOf(error);
  const message = String(error.message);
  const cause = "cause" in error && error.cause !== undefined ? oneLine(error.cause) : "";
  return (message.includes(cause) ? message : `${message}: ${cause}`).replaceAll("\n", " ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The code of an expected error, such as a refused request or an errno. Node's own errors about wrong calls are bugs. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" && !error.code.startsWith("ERR_") ? error.code : undefined;
}

function stackOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("stack" in error)) return undefined;
  const cause = "cause" in error ? stackOf(error.cause) : undefined;
  return `${String(error.stack)}${cause === undefined ? "" : `\ncaused by: ${cause}`}`;
}

const levels: readonly LogLevel[] = ["warn", "info", "debug"];

/**
 * levelOfVerbosity maps SriovOperatorConfig.spec.logLevel, which applies to all services of a cluster, to a log level
 * (sriov-operator.md A.6): 0 is "warn", 1 is "info", 2 is "debug".
 * Returns the log level for `verbosity`, or `otherwise` if it is undefined or not 0, 1 or 2.
 */
export function levelOfVerbosity(verbosity: number | undefined, otherwise: LogLevel): LogLevel {
  return levels[verbosity ?? -1] ?? otherwise;
}
