// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { sizeThreadPool } from "./resources.ts";

describe("sizeThreadPool", () => {
  it.each([
    { maxPfs: 1, set: undefined, size: "13", maxHanging: 8 },
    { maxPfs: 4, set: undefined, size: "16", maxHanging: 8 },
    { maxPfs: 4, set: "20", size: "20", maxHanging: 12 },
    { maxPfs: 4, set: "4", size: "4", maxHanging: 1 },
    { maxPfs: 4, set: "many", size: "many", maxHanging: 1 },
  ])(
    "lets $maxHanging steps hang at $maxPfs PFs where UV_THREADPOOL_SIZE is $set",
    ({ maxPfs, set, size, maxHanging }) => {
      const env = set === undefined ? {} : { UV_THREADPOOL_SIZE: set };
      expect(sizeThreadPool(maxPfs, env)).toEqual({ maxHanging });
      expect(env).toEqual({ UV_THREADPOOL_SIZE: size });
    },
  );
});
