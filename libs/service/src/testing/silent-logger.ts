// SPDX-License-Identifier: Apache-2.0
/** silentLogger is a Logger for tests that do not look at log messages. */
import type { Logger } from "../logger.ts";

/** Discards all messages. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  child: () => silentLogger,
};
