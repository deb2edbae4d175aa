// SPDX-License-Identifier: Apache-2.0
import type { Narrator } from "@switchyard/demo/narrator";

/** Tells nothing: a test has its own way to say what went wrong. */
export const silentNarrator: Narrator = {
  scene: () => undefined,
  line: () => undefined,
  output: () => undefined,
  elapsedS: () => 0,
};
