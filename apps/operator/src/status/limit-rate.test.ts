// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Requeue } from "@switchyard/kube";
import { limitRate } from "../controller-pace.ts";

it("postpones a second run of a key until the interval has passed, and does not affect other keys", async () => {
  let nowMs = 0;
  const runs: string[] = [];
  const paced = limitRate(
    (key) => {
      runs.push(`${key} at ${nowMs}`);
      return Promise.resolve(undefined);
    },
    { intervalMs: 1_000, nowMs: () => nowMs },
  );
  const { signal } = new AbortController();
  expect(await paced("a", signal)).toBeUndefined();
  nowMs = 400;
  expect(await paced("a", signal)).toEqual({ afterMs: 600 });
  expect(await paced("b", signal)).toBeUndefined();
  nowMs = 1_000;
  expect(await paced("a", signal)).toBeUndefined();
  expect(runs).toEqual(["a at 0", "b at 400", "a at 1000"]);
});

it("lets a run request a shorter requeue", async () => {
  let nowMs = 0;
  let answer: Requeue | undefined = { afterMs: 200 };
  const paced = limitRate(() => Promise.resolve(answer), { intervalMs: 1_000, nowMs: () => nowMs });
  const { signal } = new AbortController();
  expect(await paced("a", signal)).toEqual({ afterMs: 200 });
  nowMs = 100;
  expect(await paced("a", signal)).toEqual({ afterMs: 100 });
  nowMs = 200;
  answer = undefined;
  expect(await paced("a", signal)).toBeUndefined();
  nowMs = 300;
  expect(await paced("a", signal)).toEqual({ afterMs: 900 });
});

it("leaves the retry of a failed run to the queue", async () => {
  let runs = 0;
  const failing = () => Promise.reject(new Error(`run ${++runs}`));
  const paced = limitRate(failing, { intervalMs: 1_000, nowMs: () => 0 });
  const { signal } = new AbortController();
  await expect(paced("a", signal)).rejects.toThrow("run 1");
  await expect(paced("a", signal)).rejects.toThrow("run 2"); // otherwise the queue would count it as a success
});
