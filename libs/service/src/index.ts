// SPDX-License-Identifier: Apache-2.0
export { runService, type Service, type ServiceContext } from "./run-service.ts";
export { runCommand, type Command, type CommandContext } from "./run-command.ts";
export { productVersion } from "./version.gen.ts";
export {
  flag,
  parseFlags,
  type AnyFlags,
  type Environment,
  type Flag,
  type FlagProblem,
  type FlagsOf,
  type NoRun,
  type ParsedFlags,
} from "./flags.ts";
export {
  durationMs,
  integer,
  listenAddress,
  oneOf,
  text,
  yesOrNo,
  type FlagKind,
  type ListenAddress,
} from "./flag-kinds.ts";
export { commonFlags, type CommonValues } from "./common-flags.ts";
export { createLogger, type LogFields, type Logger, type LogLevel, type LogMethod, type RootLogger } from "./logger.ts";
export type { LogStream } from "./readable-stream.ts";
export { compileLittle } from "./memory.ts";
export { Counter, Gauge, Histogram, Registry } from "./metrics.ts";
export type { NotReady } from "./probes.ts";
export { logAbsentKinds } from "./absent-kinds.ts";
export { cacheProblems, showCacheAges, type AgeingCaches } from "./cache-ages.ts";
export { levelOfVerbosity } from "./verbosity.ts";
export { whenAborted } from "./when-aborted.ts";
export { mapConcurrently } from "./map-concurrently.ts";
export { isErrno, type ErrnoError } from "./errno.ts";
