// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

describe("Slots", () => {
  it("serves callers in order", async () => {
    const slots = new Slots(1);
    const served: number[] = [];
    await slots.take(never);
    const waiting = [1, 2, 3].map((who) => slots.take(never).then(() => served.push(who)));
    for (const asked of waiting) {
      slots.give();
      await asked;
    }
    expect(served).toEqual([1, 2, 3]);
  });

  it("skips a caller whose signal has aborted and rejects with its reason", async () => {
    const slots = new Slots(1);
    await slots.take(never);
    const enough = new AbortController();
    const first = slots.take(enough.signal);
    const second = slots.take(never);
    enough.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    slots.give();
    await second;
    await expect(slots.take(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  });

  it("never gives out more slots than it has and loses none", async () => {
    const visits = fc.array(fc.record({ works: fc.nat(3), aborts: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), visits, async (count, all) => {
        const slots = new Slots(count);
        let inside = 0;
        let most = 0;
        const turns = async (number: number) => {
          for (let turn = 0; turn < number; turn++) await Promise.resolve();
        };
        await Promise.all(
          all.map(async ({ works, aborts }) => {
            const stop = new AbortController();
            const asked = slots.take(stop.signal).then(
              () => true,
              () => false,
            );
            const leave = async () => {
              await turns(works);
              stop.abort(new Error("left"));
            };
            if (aborts) void leave();
            if (!(await asked)) return;
            most = Math.max(most, (inside += 1));
            await turns(works);
            inside -= 1;
            slots.give();
          }),
        );
        expect(most).toBeLessThanOrEqual(count);
        await Promise.all(Array.from({ length: count }, () => slots.take(never)));
      }),
    );
  });
});
