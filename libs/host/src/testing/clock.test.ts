// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createManualClock } from "./clock.ts";

describe("createManualClock", () => {
  it("stands still until advance(), and wakes sleepers in the order of their time", async () => {
    const clock = createManualClock();
    const woken: string[] = [];
    const sleep = (ms: number, who: string) => clock.sleep(ms).then(() => woken.push(`${who} at ${clock.nowMs()}`));
    void sleep(20, "b");
    void sleep(10, "a").then(() => sleep(5, "a again"));
    clock.later(30, () => woken.push("never"));
    await clock.advance(0);
    expect(woken).toEqual([]);
    await clock.advance(25);
    expect(woken).toEqual(["a at 10", "a again at 15", "b at 20"]);
    expect(clock.nowMs()).toBe(25);
  });

  it("wakes a sleeper whose signal aborts", async () => {
    const stop = new AbortController();
    const sleeping = createManualClock().sleep(1_000, stop.signal);
    stop.abort();
    await sleeping;
    await createManualClock().sleep(1_000, stop.signal);
  });
});
