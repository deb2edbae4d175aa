// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { HttpTransport } from "../http/http-transport.ts";
import { eventually, FakeClock } from "../testing/fake-clock.ts";
import { configMaps, FakeApiServer, type ConfigMap } from "../testing/fake-api-server.ts";
import { watchObjects } from "./watch-objects.ts";

const expired = { status: 410, body: JSON.stringify({ kind: "Status", reason: "Expired", code: 410 }) };
const faults = [expired, "reset", ...[404, 429, 500, 503].map((status) => ({ status, body: "fault" }))] as const;

/** An object gets this color or is deleted. */
const change = fc.record({
  name: fc.constantFrom("a", "b", "c", "d"),
  color: fc.constantFrom("red", "blue", undefined),
});
const changes = fc.array(change, { maxLength: 3 });
const hows = fc.constantFrom("in-order" as const, "reset" as const, "within-object" as const);

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("change" as const), changes }),
    fc.record({ do: fc.constant("cut" as const), how: hows, changes, isForgotten: fc.boolean() }),
    fc.record({ do: fc.constant("fail" as const), fault: fc.constantFrom(...faults) }),
    fc.record({ do: fc.constant("wait" as const) }),
  ),
  { maxLength: 20 },
);

describe("watchObjects", () => {
  it("has the same objects as the server and has reported each change after any sequence of faults", async () => {
    const holds = fc.asyncProperty(steps, async (todo) => {
      await using server = await FakeApiServer.start();
      await using transport = new HttpTransport(server.endpoint);
      const clock = new FakeClock();
      await using cache = watchObjects({
        transport,
        type: configMaps,
        namespace: "ns",
        pageSize: 2,
        optional: true,
        clock,
        random: () => 1,
        project: ({ data }: ConfigMap) => data?.["color"] ?? "",
        report: () => undefined,
      });
      const seen = new Map<string, string>();
      const outOfStep: string[] = [];
      cache.subscribe(({ key, before, after }) => {
        if (before !== seen.get(key)) outOfStep.push(key);
        keep(seen, key, after);
      });

      const real = new Map<string, string>();
      for (const step of todo) {
        if (step.do === "fail") server.failNext(step.fault);
        else if (step.do === "wait") {
          await eventually(() => server.watching === 1 || isPausing(clock));
          if (isPausing(clock)) await clock.advance(clock.nextMs);
        } else {
          if (step.do === "cut") server.cutWatches(step.how);
          for (const { name, color } of step.changes) {
            if (color === undefined) server.delete(name);
            else server.put(name, { color });
            keep(real, name, color);
          }
          if (step.do === "cut" && step.isForgotten) server.compact();
        }
      }

      const known = () => new Map(Array.from(cache.keys(), (key) => [key, cache.get(key) ?? ""]));
      const isThere = () => cache.served && server.watching === 1 && equal(known(), real);
      await eventually(async () => {
        if (!isThere() && isPausing(clock)) await clock.advance(clock.nextMs);
        return isThere();
      });
      expect([outOfStep, equal(seen, real)]).toEqual([[], true]);
    });
    await fc.assert(holds, { numRuns: 100, endOnFailure: true });
  }, 60_000);
});

/** Reports whether the reflector pauses. The limit of a silent watch is longer. */
function isPausing(clock: FakeClock): boolean {
  return clock.nextMs <= 60_000;
}

function keep(colors: Map<string, string>, name: string, color: string | undefined): void {
  if (color === undefined) colors.delete(name);
  else colors.set(name, color);
}

function equal(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
