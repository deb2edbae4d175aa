// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { eventually } from "./eventually.ts";

describe("eventually", () => {
  it("resolves with the first value that is neither undefined nor false nor an error", async () => {
    const answers = [undefined, false, new Error("not yet"), 0];
    const ask = () => {
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    };
    expect(await eventually("a number", ask, { everyMs: 1 })).toBe(0);
  });

  it("rejects with the last error as cause at the time limit", async () => {
    const cause = new Error("refused");
    const waiting = eventually("a node", () => Promise.reject(cause), { withinMs: 5, everyMs: 1 });
    await expect(waiting).rejects.toMatchObject({ code: "timeout", message: "a node: not within 5 ms", cause });
  });

  it("rejects with the reason of its signal", async () => {
    const waiting = eventually("nothing", () => false, { signal: AbortSignal.abort(new Error("enough")) });
    await expect(waiting).rejects.toThrow("enough");
    const later = new AbortController();
    const sleeping = eventually("nothing", () => false, { signal: later.signal, everyMs: 50_000 });
    later.abort(new Error("now"));
    await expect(sleeping).rejects.toThrow("now");
  });
});
