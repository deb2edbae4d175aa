// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "@switchyard/kube";
import { differences, clusterStateOf } from "./cluster-state.ts";

const config = { apiVersion: "v1", kind: "Config", metadata: { name: "default", uid: "c1", generation: 2 } };

function state(overrides: Readonly<Record<string, unknown>> = {}, metadata: object = {}): KubeObject {
  const named = { name: "a", namespace: "ns", uid: "u1", resourceVersion: "7", generation: 3, ...metadata };
  return { apiVersion: "v1", kind: "State", metadata: named, ...overrides };
}

/** Returns the differences as text if the first list is expected and the second one is actual. */
function compare(expected: readonly KubeObject[], actual: readonly KubeObject[]): string {
  return differences(clusterStateOf(expected), clusterStateOf(actual));
}

describe("differences", () => {
  it("ignores times, uids and versions", () => {
    const status = (time: string, generation: number) => ({
      status: {
        conditions: [{ type: "Ready", lastTransitionTime: time, message: `valid until ${time}` }],
        observedGeneration: generation,
      },
    });
    const now = state(status("2026-11-21T01:42:22Z", 3));
    const later = state(status("2026-11-22T09:00:00.123Z", 5), { uid: "u2", resourceVersion: "99", generation: 5 });
    expect(compare([now], [later])).toBe("");
  });

  it("ignores the order of conditions", () => {
    const status = (...types: readonly string[]) => state({ status: { conditions: types.map((type) => ({ type })) } });
    expect(compare([status("Ready", "Valid")], [status("Valid", "Ready")])).toBe("");
    expect(compare([status("Ready", "Valid")], [status("Valid", "Degraded")])).not.toBe("");
  });

  it("lists added and removed objects", () => {
    expect(compare([state()], [])).toMatch(/^State ns\/a: expected \{.*\}, but it is absent$/);
    expect(compare([], [state()])).toMatch(/^State ns\/a: expected absent, but it is \{/);
  });

  it("lists a changed value with its path", () => {
    const ours = (mtu: number) => state({ spec: { interfaces: [{ name: "p0" }, { name: "p1", mtu }] } });
    expect(compare([ours(1500)], [ours(9000)])).toBe(
      "State ns/a .spec .interfaces [1] .mtu: expected 1500, but it is 9000",
    );
  });

  it("detects a status of an older spec", () => {
    const status = (observedGeneration: number) => state({ status: { observedGeneration } });
    expect(compare([status(3)], [status(2)])).toBe(
      'State ns/a .status .observedGeneration: expected "current", but it is "behind"',
    );
  });

  it("detects an owner reference to another object than the existing one", () => {
    const owned = (uid: string) => state({}, { ownerReferences: [{ kind: "Config", name: "default", uid }] });
    expect(compare([config, owned("c1")], [config, owned("c0")])).toContain("ownerReferences [0] .isThere");
  });
});
