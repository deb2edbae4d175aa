// SPDX-License-Identifier: Apache-2.0
/**
 * createLogger makes the logger of a process. It writes JSON lines to a pipe or file and readable text to a terminal:
 * {"level":"info","time":"2026-11-20T21:08:33.120Z","service":"operator","node":"worker-1","steps":3,"msg":"plan applied"}
 * An error belongs in the field `error`; it is written with its causes. Lines are written synchronously, so a crash loses
 * none.
 * Usage: `createLogger({ service: "operator", level: "info" }).log.info({ node, steps: 3 }, "plan applied")`.
 */
import { pino, stdSerializers, stdTimeFunctions } from "pino";
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
          if (lineSeverity >= least) write.apply(this, line);
        },
      },
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      errorKey: "error",
      serializers: { error: serializeError },
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

/**
 * The stack of an error with a code, such as a refused request or an errno, says nothing that its message does not. Node's own errors
 * about wrong calls have codes, too, and are bugs.
 */
function serializeError(error: Error): unknown {
  return withoutStacks(stdSerializers.errWithCause(error));
}

function withoutStacks(serialized: unknown): unknown {
  if (typeof serialized !== "object" || serialized === null) return serialized;
  const { stack, cause, ...fields }: Readonly<Record<string, unknown>> = { ...serialized };
  const isExpected = typeof fields["code"] === "string" && !fields["code"].startsWith("ERR_");
  return {
    ...fields,
    ...(!isExpected && stack !== undefined && { stack }),
    ...(cause !== undefined && { cause: withoutStacks(cause) }),
  };
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
