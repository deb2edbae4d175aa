// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { waitingPods } from "./waiting-pods.ts";

const now = new Date("2026-11-23T12:00:00Z");
const [longAgo, justNow] = ["2026-11-23T11:00:00Z", "2026-11-23T11:59:00Z"];

interface Given {
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly phase?: string;
  readonly ready?: string;
  readonly since?: string;
  readonly deletionTimestamp?: string;
}

function pod({ name = "a", spec = {}, phase = "Pending", ready = "False", since = longAgo, ...metadata }: Given = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ns", creationTimestamp: longAgo, ...metadata },
    spec,
    status: { phase, conditions: [{ type: "Ready", status: ready, lastTransitionTime: since }] },
  };
}

describe("waitingPods", () => {
  it("counts pods that wait for an interface, and names the first ones", () => {
    const pods = ["d", "c", "b", "a"].map((name) => pod({ name }));
    expect(waitingPods(pods, now)).toEqual({ count: 4, names: ["ns/a", "ns/b", "ns/c"] });
  });

  it.each([
    { which: "ran before the host booted", given: { phase: "Running" }, count: 1 },
    { which: "has another network beside the default one", given: { annotations: { other: "x" } }, count: 1 },
    { which: "uses the host's network", given: { spec: { hostNetwork: true } }, count: 0 },
    {
      which: "has a VF as default network",
      given: { annotations: { "v1.multus-cni.io/default-network": "ns/vf" } },
      count: 0,
    },
    { which: "is ready", given: { phase: "Running", ready: "True" }, count: 0 },
    { which: "has just started", given: { since: justNow }, count: 0 },
    { which: "started while the clock was in 1970", given: { since: "1970-01-01T00:01:00Z" }, count: 0 },
    { which: "started while the clock was years ahead", given: { since: "2040-01-01T00:00:00Z" }, count: 0 },
    { which: "has ended", given: { phase: "Succeeded" }, count: 0 },
    { which: "is being deleted", given: { deletionTimestamp: longAgo }, count: 0 },
  ])("counts $count for a pod that $which", ({ given, count }) => {
    expect(waitingPods([pod(given)], now).count).toBe(count);
  });

  it("survives a pod without a status", () => {
    const bare = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", namespace: "ns", creationTimestamp: longAgo },
    };
    expect(waitingPods([bare], now)).toEqual({ count: 1, names: ["ns/a"] });
  });
});
