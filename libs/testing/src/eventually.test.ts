// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { eventually } from "./eventually.ts";

describe("eventually", () => {
  it("takes the first answer that is neither undefined, nor false, nor thrown", async () => {
    const answers = [undefined, false, new Error("not yet"), 0];
    const ask = () => {
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    };
    expect(await eventually("a number", ask, { everyMs: 1 })).toBe(0);
  });

  it("ends with what was thrown last", async () => {
    const cause = new Error("refused");
    const asking = eventually("a node", () => Promise.reject(cause), { withinMs: 5, everyMs: 1 });
    await expect(asking).rejects.toMatchObject({ code: "timeout", message: "a node: not within 5 ms", cause });
  });

  it("ends with its signal", async () => {
    const asking = eventually("nothing", () => false, { signal: AbortSignal.abort(new Error("enough")) });
    await expect(asking).rejects.toThrow("enough");
  });
});
