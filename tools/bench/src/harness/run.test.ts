// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { startPart, startRun } from "./run.ts";

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
