// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { whenAborted } from "./promises.ts";

describe("whenAborted", () => {
  it("resolves when the signal aborts", async () => {
    const end = new AbortController();
    const seen: string[] = [];
    const waiting = whenAborted(end.signal).then(() => seen.push("aborted"));
    await Promise.resolve();
    expect(seen).toEqual([]);
    end.abort();
    await waiting;
    expect(seen).toEqual(["aborted"]);
  });

  it("resolves for a signal that has aborted before", async () => {
    await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
  });
});
