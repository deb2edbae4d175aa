// SPDX-License-Identifier: Apache-2.0
/** What the plugin for Headlamp uses of node:util, for browsers: a build replaces that module by this one. */
import equal from "fast-deep-equal";

/** For JSON values, the same as in Node.js. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return equal(a, b);
}
