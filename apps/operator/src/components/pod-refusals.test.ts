// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type Transport, type TransportRequest } from "@switchyard/kube";
import { createPodRefusals } from "./pod-refusals.ts";

const never = new AbortController().signal;
const daemon = "sriov-network-config-daemon";
const quota =
  'Error creating: pods "x" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0';

function event(note: string, deprecatedLastTimestamp: string | null, more: object = {}) {
  const metadata = { name: deprecatedLastTimestamp ?? "x" };
  return { apiVersion: "events.k8s.io/v1", kind: "Event", metadata, note, deprecatedLastTimestamp, ...more };
}

function setUp(items: readonly object[] = [], error?: KubeError) {
  const world = { nowMs: 0, requests: [] as TransportRequest[] };
  const transport: Transport = {
    namespace: "ns",
    request(request) {
      world.requests.push(request);
      return error === undefined
        ? Promise.resolve({ metadata: { resourceVersion: "1" }, items })
        : Promise.reject(error);
    },
    watch: () => {
      throw new TypeError("unexpected call");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const find = createPodRefusals({ transport, namespace: "ns", nowMs: () => world.nowMs });
  const at = (minutes: number, ...pending: readonly string[]) => {
    world.nowMs = minutes * 60_000;
    return find(pending, never);
  };
  return { world, at };
}

describe("createPodRefusals", () => {
  it("says after five minutes why pods are not created, in the words of the newest event", async () => {
    const { world, at } = setUp([
      event("older", "2026-11-20T11:00:00Z"),
      event(quota, "2026-11-20T12:00:00Z"),
      event("newer by its creation only", null, { eventTime: "2026-11-20T11:30:00Z" }),
    ]);
    expect(await at(0, daemon)).toEqual({ sentences: [], afterMs: 60_000 });
    expect(await at(4.9, daemon)).toEqual({ sentences: [], afterMs: 60_000 });
    expect(world.requests).toEqual([]);
    expect((await at(5, daemon)).sentences).toEqual([`${daemon}: its pods are refused: ${quota}`]);
    expect(world.requests.map(({ path, query }) => [path, query?.["fieldSelector"]])).toEqual([
      [
        "/apis/events.k8s.io/v1/namespaces/ns/events",
        `regarding.kind=DaemonSet,regarding.name=${daemon},reason=FailedCreate`,
      ],
    ]);
  });

  it("asks once a minute, and forgets a rollout that is complete", async () => {
    const { world, at } = setUp([event(quota, "2026-11-20T12:00:00Z")]);
    for (const minutes of [0, 5, 5.5, 5.9, 6]) await at(minutes, daemon);
    expect(world.requests.length).toBe(2);
    expect(await at(7)).toEqual({ sentences: [], afterMs: undefined });
    expect((await at(8, daemon)).sentences).toEqual([]);
  });

  it("says nothing without an event, and without the right to read events", async () => {
    for (const given of [setUp(), setUp([], new KubeError("GET", "Forbidden", { status: 403 }))]) {
      await given.at(0, daemon);
      expect((await given.at(6, daemon)).sentences).toEqual([]);
      expect(given.world.requests.length).toBe(1);
    }
  });
});
