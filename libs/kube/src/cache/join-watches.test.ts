// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { joinWatches, type JoinedWatches } from "./watch-objects.ts";

function createWatch(ageMs = 0) {
  const listeners = new Set<() => void>();
  const gate = Promise.withResolvers<undefined>();
  let synced = false;
  let ended = false;
  const watch: JoinedWatches = {
    get synced() {
      return synced;
    },
    get ageMs() {
      return ageMs;
    },
    get ages() {
      return [{ resource: "roles", synced, ageMs }];
    },
    async whenSynced() {
      await gate.promise;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    [Symbol.asyncDispose]() {
      ended = true;
      return Promise.resolve();
    },
  };
  return {
    watch,
    sync() {
      synced = true;
      gate.resolve(undefined);
    },
    change() {
      for (const listener of listeners) listener();
    },
    ended: () => ended,
  };
}

describe("joinWatches", () => {
  it("is synced when the last watch is synced", async () => {
    const [one, other] = [createWatch(), createWatch()];
    const joined = joinWatches([one.watch, other.watch]);
    let resolved = false;
    const whenSynced = joined.whenSynced(AbortSignal.abort()).then(() => {
      resolved = true;
    });
    one.sync();
    await Promise.resolve();
    expect([joined.synced, resolved]).toEqual([false, false]);
    other.sync();
    await whenSynced;
    expect(joined.synced).toBe(true);
  });

  it("passes the changes of each watch until the subscription ends, and disposes all", async () => {
    const [one, other] = [createWatch(), createWatch()];
    const joined = joinWatches([one.watch, joinWatches([other.watch])]);
    let calls = 0;
    const end = joined.subscribe(() => {
      calls += 1;
    });
    one.change();
    other.change();
    end();
    other.change();
    expect(calls).toBe(2);
    await joined[Symbol.asyncDispose]();
    expect([one.ended(), other.ended()]).toEqual([true, true]);
  });

  it("is synced without watches", async () => {
    const joined = joinWatches([]);
    await joined.whenSynced(AbortSignal.abort());
    expect(joined.synced).toBe(true);
  });

  it("has the age of the oldest watch and the ages of all", () => {
    const joined = joinWatches([createWatch(1_000).watch, createWatch(3_000).watch]);
    expect([joined.ageMs, joined.ages.map(({ ageMs }) => ageMs)]).toEqual([3_000, [1_000, 3_000]]);
    expect(joinWatches([]).ageMs).toBe(0);
  });
});
