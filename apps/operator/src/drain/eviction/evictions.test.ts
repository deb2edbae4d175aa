// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { EvictionResult } from "./evict-pod.ts";
import { createEvictionConcurrencyLimit, createEvictions, type EvictionsDeps } from "./evictions.ts";
import type { DrainedPod } from "@switchyard/policy";
import { pod } from "../testing/drain-cluster.ts";

const never = new AbortController().signal;

/** Evictions with a clock. Pods in `refusing` are refused. All nodes share eight concurrent evictions. */
function cluster() {
  const refusing = new Set<string>();
  const asked: string[] = [];
  const clock = { nowMs: 0, retryAfterMs: undefined as number | undefined, eachMs: 0, atOnce: 0, most: 0 };
  const deps: EvictionsDeps = {
    limit: createEvictionConcurrencyLimit(8),
    async evict({ name }: DrainedPod): Promise<EvictionResult> {
      asked.push(name);
      clock.most = Math.max(clock.most, ++clock.atOnce);
      const endMs = clock.nowMs + clock.eachMs;
      await Promise.resolve();
      clock.nowMs = Math.max(clock.nowMs, endMs);
      clock.atOnce--;
      return refusing.has(name)
        ? { kind: "refused", message: "budget", retryAfterMs: clock.retryAfterMs }
        : { kind: "accepted" };
    },
    nowMs: () => clock.nowMs,
    random: () => 1,
  };
  const ofNode = () => {
    const evictions = createEvictions(deps);
    return (...pods: readonly DrainedPod[]) => evictions.attempt(pods, never);
  };
  return { refusing, asked, clock, attempt: ofNode(), ofNode };
}

describe("createEvictions", () => {
  it("evicts each pod once, and again only if it does not terminate", async () => {
    const { asked, clock, attempt } = cluster();
    await attempt(pod("a"), pod("b"));
    expect(await attempt(pod("a"), pod("b", { endsBy: "2026-11-20T12:00:30Z" }))).toEqual({
      refused: [],
      nextMs: 5_000,
    });
    expect(asked).toEqual(["a", "b"]);
    clock.nowMs = 5_000;
    await attempt(pod("a"), pod("b", { endsBy: "2026-11-20T12:00:30Z" }));
    expect(asked).toEqual(["a", "b", "a"]);
  });

  it("retries a refused pod with increasing delays up to 30 s", async () => {
    const { refusing, clock, attempt } = cluster();
    refusing.add("a");
    const waitsMs: number[] = [];
    for (let time = 0; time < 7; time++) {
      const { refused, nextMs } = await attempt(pod("a"));
      expect(refused.map(({ message }) => message)).toEqual(["budget"]);
      waitsMs.push(nextMs);
      clock.nowMs += nextMs;
    }
    expect(waitsMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it("waits as long as the API server asks for, but at most 30 s", async () => {
    const { refusing, clock, attempt } = cluster();
    refusing.add("a");
    clock.retryAfterMs = 10_000;
    expect((await attempt(pod("a"))).nextMs).toBe(10_000);
    clock.nowMs = 10_000;
    clock.retryAfterMs = 600_000;
    expect((await attempt(pod("a"))).nextMs).toBe(30_000);
  });

  it("evicts another pod of the same name at once", async () => {
    const { refusing, asked, attempt } = cluster();
    refusing.add("a");
    await attempt(pod("a", { uid: "first" }));
    refusing.clear();
    await attempt(pod("a", { uid: "second" }));
    expect(asked).toEqual(["a", "a"]);
  });

  it("ends an attempt in which the API server is slow, and continues with the next pods in the next attempt", async () => {
    const { refusing, asked, clock, attempt } = cluster();
    const pods = Array.from({ length: 20 }, (_, index) => pod(`p${index}`));
    for (const { name } of pods) refusing.add(name);
    clock.eachMs = 5_000;
    const first = await attempt(...pods);
    expect([asked.length, first.refused.length, first.nextMs]).toEqual([8, 8, 0]);
    await attempt(...pods);
    expect(asked.slice(8)).toEqual(pods.slice(8, 16).map(({ name }) => name));
  });

  it("limits concurrent evictions for one node and for all nodes together", async () => {
    const { asked, clock, attempt, ofNode } = cluster();
    const pods = Array.from({ length: 50 }, (_, index) => pod(`p${index}`));
    await attempt(...pods);
    expect([asked.length, clock.most]).toEqual([50, 8]);
    const elsewhere = pods.map((each) => ({ ...each, uid: `other-${each.uid}` }));
    clock.nowMs = 5_000;
    await Promise.all([attempt(...pods), ofNode()(...elsewhere), ofNode()(pod("third"))]);
    expect([asked.length, clock.most]).toEqual([151, 11]); // one for each of three nodes, and eight that they share
  });
});
