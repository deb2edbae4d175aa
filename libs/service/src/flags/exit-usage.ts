// SPDX-License-Identifier: Apache-2.0
/**
 * The exit code of all programs for wrong usage. It is the package's export "@switchyard/service/exit-usage", for commands that
 * must load little.
 */

/** EX_USAGE of sysexits.h, for an unknown flag or an invalid value. */
export const exitUsage = 64;
