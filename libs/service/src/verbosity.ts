// SPDX-License-Identifier: Apache-2.0
/**
 * levelOfVerbosity maps SriovOperatorConfig.spec.logLevel, which applies to all services of a cluster, to a log level
 * (sriov-operator.md A.6): 0 is "warn", 1 is "info", 2 is "debug".
 * Usage: `const level = levelOfVerbosity(config?.spec?.logLevel, flags.logLevel)`.
 */
import type { LogLevel } from "./logger.ts";

const levels: readonly LogLevel[] = ["warn", "info", "debug"];

/** Returns the log level for `verbosity`, or `otherwise` if it is undefined or not 0, 1 or 2. */
export function levelOfVerbosity(verbosity: number | undefined, otherwise: LogLevel): LogLevel {
  return levels[verbosity ?? -1] ?? otherwise;
}
