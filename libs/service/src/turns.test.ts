// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createTurns } from "./promises.ts";

describe("createTurns", () => {
  it("runs actions with one key one after the other, also after one that fails, and others at once", async () => {
    const turns = createTurns();
    const events: string[] = [];
    const action = (name: string, error?: Error) => async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (error !== undefined) throw error;
      return name;
    };
    const first = turns.run(action("first", new Error("failed")), "a");
    const second = turns.run(action("second"), "a");
    const other = turns.run(action("other"), "b");
    await turns.ended();
    await expect(first).rejects.toThrow("failed");
    expect([await second, await other]).toEqual(["second", "other"]);
    expect(events.slice(0, 2)).toEqual(["first begins", "other begins"]);
    expect(events.indexOf("second begins")).toBeGreaterThan(events.indexOf("first ends"));
  });

  it("has ended at once without actions", async () => {
    await expect(createTurns().ended()).resolves.toBeUndefined();
  });
});
