// SPDX-License-Identifier: Apache-2.0
/**
 * One number for how much all services of a cluster log, as SriovOperatorConfig.spec.logLevel is (sriov-operator.md A.6):
 * 0 what went wrong, 1 also what was done, 2 everything.
 * Usage: `setLogLevel(levelOfVerbosity(config?.spec?.logLevel, flags.logLevel))`.
 */
import type { LogLevel } from "./logger.ts";

const levels: readonly LogLevel[] = ["warn", "info", "debug"];

/** The level for a verbosity; `otherwise` where there is none, or none that is known. */
export function levelOfVerbosity(verbosity: number | undefined, otherwise: LogLevel): LogLevel {
  return levels[verbosity ?? -1] ?? otherwise;
}
