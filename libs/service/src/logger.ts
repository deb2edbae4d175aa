// SPDX-License-Identifier: Apache-2.0
/**
 * Log lines: JSON on a pipe or file, readable text on a terminal.
 * Usage: `log.info({ node, steps: 3 }, "plan applied")` writes
 * `{"level":"info","time":"2026-11-20T21:08:33.120Z","service":"operator","node":"worker-1","steps":3,"msg":"plan applied"}`.
 * Errors go under the key `error`, with their causes. Lines are written at once, so a crash loses none.
 */
import { pino, stdSerializers, stdTimeFunctions } from "pino";
import { createReadableStream } from "./readable-log.ts";

/** From silent to chatty. */
export const logLevels = ["error", "warn", "info", "debug", "trace"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Facts of a line, by name. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line: a constant message, with what varies in the fields. */
export interface LogMethod {
  (fields: LogFields, message: string): void;
  (message: string): void;
}

/** What code that logs is given. */
export type Logger = Readonly<Record<LogLevel, LogMethod>> & {
  /** A logger that adds these fields to each line. */
  child(fields: LogFields): Logger;
};

/** The logger of a process, which decides on the level. */
export interface RootLogger {
  readonly log: Logger;
  /** Takes effect at once, for all children too. */
  readonly setLevel: (level: LogLevel) => void;
}

/** Where lines go. */
export interface LogStream {
  readonly isTTY?: boolean;
  write(line: string): unknown;
}

const severity: Readonly<Record<LogLevel, number>> = { error: 50, warn: 40, info: 30, debug: 20, trace: 10 };

/** `service` is in each line. The stream is stderr unless another is given. */
export function createLogger(options: {
  readonly service: string;
  readonly level: LogLevel;
  readonly stream?: LogStream;
}): RootLogger {
  const { service, level, stream = process.stderr } = options;
  let least = severity[level];
  const log = pino(
    {
      // Each pino child has a level of its own, fixed when it is made. So pino lets all lines pass and the hook decides.
      level: "trace",
      hooks: {
        logMethod(line, write, lineSeverity) {
          if (lineSeverity >= least) write.apply(this, line);
        },
      },
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      errorKey: "error",
      serializers: { error: stdSerializers.errWithCause },
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
