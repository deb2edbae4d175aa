// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { BenchError, until } from "./run-control.ts";

const never = new AbortController().signal;

describe("until", () => {
  it("resolves when the condition is true", async () => {
    let asked = 0;
    await until("three", () => ++asked === 3, { withinMs: 60_000, signal: never, everyMs: 1 });
    expect(asked).toBe(3);
  });

  it("names the condition in the timeout error", async () => {
    const waiting = until("the spec", () => false, { withinMs: 0, signal: never, everyMs: 1 });
    await expect(waiting).rejects.toMatchObject({ code: "late", message: "timed out after 0 s: the spec" });
  });

  it("rejects at once with the error of a failed run", async () => {
    const run = new AbortController();
    const waiting = until("the spec", () => false, { withinMs: 60_000, signal: run.signal, everyMs: 50_000 });
    run.abort(new BenchError("ended", "the operator ended"));
    await expect(waiting).rejects.toMatchObject({ code: "ended" });
  });
});
