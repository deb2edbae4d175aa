// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { KubeError } from "../http/kube-error.ts";
import type { ResourceType } from "../kube-object.ts";
import { eventually, FakeClock } from "../testing/fake-clock.ts";
import { createServedGroups } from "./served-groups.ts";

const monitor: ResourceType = {
  group: "monitoring.example.com",
  version: "v1",
  kind: "Monitor",
  plural: "monitors",
  namespaced: true,
};
const other: ResourceType = { ...monitor, group: "other.example.com" };

const serving = (...groupVersions: readonly string[]) => ({
  groups: [{ name: "apps", versions: groupVersions.map((groupVersion) => ({ groupVersion })) }],
});

let answer: unknown;
let requests: string[];
let stop: AbortController;
let clock: FakeClock;
beforeEach(() => {
  answer = serving("apps/v1");
  requests = [];
  stop = new AbortController();
  clock = new FakeClock();
});
afterEach(() => {
  stop.abort(new Error("the test has ended"));
});

/** Waits for kinds and returns those that may be served so far, and how often the absence of one was confirmed. */
function wait(...types: readonly ResourceType[]) {
  const groups = createServedGroups(
    {
      request({ path }) {
        requests.push(path);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
    clock,
  );
  const found = { served: [] as string[], absent: 0 };
  for (const type of types) {
    const count = () => {
      found.absent++;
    };
    groups.whenServed(type, stop.signal, count).then(
      () => found.served.push(type.group),
      () => undefined,
    );
  }
  return found;
}

describe("createServedGroups", () => {
  it("asks once every 5 s, however many kinds are missing, and ends when the group appears", async () => {
    const found = wait(monitor, other, monitor);
    await eventually(() => found.absent === 3);
    await clock.advance(5_000);
    await eventually(() => found.absent === 6);
    expect([requests, found.served]).toEqual([["/apis", "/apis"], []]);

    answer = serving("apps/v1", "monitoring.example.com/v1");
    await clock.advance(5_000);
    await eventually(() => found.served.length === 2);
    expect(found.served).toEqual([monitor.group, monitor.group]);
  });

  it("takes a group with another version for missing", async () => {
    answer = serving("monitoring.example.com/v1alpha1");
    const found = wait(monitor);
    await eventually(() => found.absent === 1);
    expect(found.served).toEqual([]);
  });

  it.each([
    { what: "an error", given: new KubeError("GET /apis", "Forbidden", { status: 403 }) },
    { what: "an answer of another kind", given: { kind: "Status" } },
  ])("lets the kind be listed after $what", async ({ given }) => {
    answer = given;
    const found = wait(monitor);
    await eventually(() => found.served.length === 1);
    expect(found.absent).toBe(0);
  });

  it("lets a kind of the core group be listed", async () => {
    const found = wait({ ...monitor, group: "" });
    await eventually(() => found.served.length === 1);
  });
});
