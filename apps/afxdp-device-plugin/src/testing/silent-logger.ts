// SPDX-License-Identifier: Apache-2.0
import type { Logger } from "@switchyard/service";

/** Discards all messages. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  child: () => silentLogger,
};
