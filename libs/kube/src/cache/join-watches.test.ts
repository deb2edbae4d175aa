// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { joinWatches, type JoinedWatches } from "./join-watches.ts";

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
  it("is synced when the last one is", async () => {
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

  it("tells of each one's changes until that is ended, and ends all", async () => {
    const [one, other] = [createWatch(), createWatch()];
    const joined = joinWatches([one.watch, joinWatches([other.watch])]);
    let told = 0;
    const end = joined.subscribe(() => {
      told += 1;
    });
    one.change();
    other.change();
    end();
    other.change();
    expect(told).toBe(2);
    await joined[Symbol.asyncDispose]();
    expect([one.ended(), other.ended()]).toEqual([true, true]);
  });

  it("is synced where there is nothing to watch", async () => {
    const joined = joinWatches([]);
    await joined.whenSynced(AbortSignal.abort());
    expect(joined.synced).toBe(true);
  });

  it("is as old as the oldest, and names each", () => {
    const joined = joinWatches([createWatch(1_000).watch, createWatch(3_000).watch]);
    expect([joined.ageMs, joined.ages.map(({ ageMs }) => ageMs)]).toEqual([3_000, [1_000, 3_000]]);
    expect(joinWatches([]).ageMs).toBe(0);
  });
});
