// SPDX-License-Identifier: Apache-2.0
/**
 * createParts returns a function in place of Jest's `it`, for a test whose parts build on each other: after one that failed, the
 * others fail at once.
 * Usage: `const part = createParts(limitMs); part("is ready after helm install", async () => …);`
 */
import { it } from "@jest/globals";

type Part = (name: string, run: () => Promise<void>) => void;

/** `limitMs` is the time limit of each part. */
export function createParts(limitMs: number): Part {
  let failedPart: string | undefined;
  return function part(name, run) {
    const runOrSayWhy = async (): Promise<void> => {
      if (failedPart !== undefined) throw new Error(`not run, because an earlier part failed: ${failedPart}`);
      failedPart = name;
      await run();
      failedPart = undefined;
    };
    it(name, runOrSayWhy, limitMs);
  };
}
