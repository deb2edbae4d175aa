// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { createDamping } from "./damp.ts";

const down = { reason: "no-carrier", message: "ens1f0 has no carrier" } as const;

it("reports a failure after a second and a recovery after five", () => {
  const damping = createDamping();
  expect(damping.judge("pf", undefined, 0)).toBeUndefined();
  expect(damping.nextMs(0)).toBeUndefined();
  expect(damping.judge("pf", down, 10_000)).toBeUndefined();
  expect(damping.nextMs(10_400)).toBe(600);
  expect(damping.judge("pf", down, 11_000)).toEqual(down);
  expect(damping.nextMs(11_000)).toBeUndefined();
  expect(damping.judge("pf", undefined, 20_000)).toEqual(down);
  expect(damping.nextMs(20_000)).toBe(5_000);
  expect(damping.judge("pf", undefined, 25_000)).toBeUndefined();
});

it("does not report a link that loses its carrier for less than a second", () => {
  const damping = createDamping();
  damping.judge("pf", undefined, 0);
  for (let at = 1_000; at < 60_000; at += 1_000) {
    expect(damping.judge("pf", down, at)).toBeUndefined();
    expect(damping.judge("pf", undefined, at + 900)).toBeUndefined();
  }
});

it("reports one failure of a link that flaps, and waits longer for each next recovery", () => {
  const damping = createDamping();
  damping.judge("pf", undefined, 0);
  const reports: string[] = [];
  let last: unknown;
  for (let at = 1_000; at <= 600_000; at += 1_000) {
    const isDown = Math.floor(at / 10_000) % 2 === 0; // ten seconds each
    const now = damping.judge("pf", isDown ? down : undefined, at);
    if (now !== last) reports.push(now === undefined ? "up" : "down");
    last = now;
  }
  expect(reports.length).toBeLessThanOrEqual(4); // of 60 changes
  expect(reports.at(-1)).toBe("down");
});

it("takes the first observation as it is", () => {
  expect(createDamping().judge("pf", down, 0)).toEqual(down);
});
