// SPDX-License-Identifier: Apache-2.0
export { runService, type Service, type ServiceContext } from "./run-service.ts";
export {
  flag,
  parseFlags,
  type AnyFlags,
  type AskedOtherwise,
  type Environment,
  type Flag,
  type FlagProblem,
  type FlagsOf,
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
export { renderHelp } from "./help.ts";
export {
  createLogger,
  logLevels,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogMethod,
  type LogStream,
  type RootLogger,
} from "./logger.ts";
export { compileLittle, roomForYoung, runFrugally, useOneArena } from "./memory.ts";
export { createMetrics, Counter, Gauge, Histogram, Registry } from "./metrics.ts";
export { startProbes, type NotReady, type ProbeOptions, type Probes } from "./probes.ts";
export { cacheProblems, showCacheAges, type AgeingCaches } from "./cache-ages.ts";
export { levelOfVerbosity } from "./verbosity.ts";
export { whenAborted } from "./when-aborted.ts";
export { mapConcurrently } from "./map-concurrently.ts";
export { isErrno, type ErrnoError } from "./errno.ts";
export { ServiceError, type ServiceErrorCode } from "./service-error.ts";
