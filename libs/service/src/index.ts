// SPDX-License-Identifier: Apache-2.0
export { runService, type Service, type ServiceContext } from "./run-service.ts";
export { runCommand, type Command, type CommandContext } from "./run-command.ts";
export { productVersion } from "./version.gen.ts";
export {
  flag,
  optionOf,
  parseFlags,
  type AnyFlags,
  type Environment,
  type Flag,
  type FlagProblem,
  type FlagsOf,
  type NoRun,
  type ParsedFlags,
} from "./flags/flags.ts";
export {
  durationMs,
  integer,
  listenAddress,
  oneOf,
  text,
  yesOrNo,
  type FlagKind,
  type ListenAddress,
} from "./flags/flag-kinds.ts";
export { commonFlags, nodeFlags, type CommonValues } from "./flags/common-flags.ts";
export {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogMethod,
  type RootLogger,
  levelOfVerbosity,
} from "./logger.ts";
export type { LogStream } from "./readable-stream.ts";
export { disableOptimizer } from "./memory.ts";
export { createFileAges, type FileAge } from "./file-ages.ts";
export { Counter, Gauge, Histogram, Registry } from "./metrics.ts";
export type { NotReady } from "./probes.ts";
export { type ScrapeGate } from "./scrape-gate.ts";
export { logAbsentKinds, cacheProblems, showCacheAges, type AgeingCaches } from "./caches.ts";
export { createTurns, whenAborted, mapConcurrently } from "./promises.ts";
export { isErrno, type ErrnoError } from "./errors.ts";
export { makeDirectory } from "./make-directory.ts";
