// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { BenchError, startPart, startRun, until } from "./run.ts";

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

describe("startRun", () => {
  it("disposes of what a part uses at the end of the part, and of the rest at its own end", async () => {
    const ended: string[] = [];
    const named = (name: string) => ({ [Symbol.dispose]: () => void ended.push(name) });
    {
      await using run = startRun();
      run.use(named("run"));
      {
        await using part = startPart(run);
        part.use(named("part"));
      }
      expect(ended).toEqual(["part"]);
    }
    expect(ended).toEqual(["part", "run"]);
  });
});
