// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { NodePool } from "./pools/node-pools.ts";
import { retiredDevices } from "./retired-devices.ts";
import { leftPrograms, seeLease, withLease } from "./leases.ts";

const pool = (name: string, devices: readonly string[], more: Partial<NodePool> = {}): NodePool => ({
  name,
  hasSocket: true,
  hasPinnedMap: false,
  idleTimeoutMs: 0,
  uid: 0,
  requiresUnprivilegedBpf: false,
  devices: devices.map((id) => ({ id, name: id, key: id, queues: 1 })),
  ...more,
});
const summary = (retired: ReturnType<typeof retiredDevices>) =>
  retired.map(({ name, pool: { name: of, uid } }) => `${name} of ${of} for user ${uid}`);

describe("retiredDevices", () => {
  it.each([
    { when: "nothing changes", next: [pool("a", ["v0", "v1"])], retired: [] },
    { when: "a device is in no pool", next: [pool("a", ["v1"])], retired: ["v0 of a for user 0"] },
    {
      when: "the pool has another name",
      next: [pool("b", ["v0", "v1"])],
      retired: ["v0 of a for user 0", "v1 of a for user 0"],
    },
    {
      when: "the pool has another user",
      next: [pool("a", ["v1"], { uid: 1000 }), pool("c", ["v0"])],
      retired: ["v0 of a for user 0", "v1 of a for user 0"],
    },
    { when: "only the time-out differs", next: [pool("a", ["v0", "v1"], { idleTimeoutMs: 9 })], retired: [] },
  ])("when $when", ({ next, retired }) => {
    expect(summary(retiredDevices({ pools: [pool("a", ["v0", "v1"])], retired: [] }, next))).toEqual(retired);
  });

  it("keeps the pool in which a pod got the device over two changes, until the device is back in it", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => pool(name, ["v0"]));
    if (a === undefined || b === undefined || c === undefined) throw new Error("no pools");
    const once = retiredDevices({ pools: [a], retired: [] }, [b]);
    expect(summary(retiredDevices({ pools: [b], retired: once }, [c]))).toEqual(["v0 of a for user 0"]);
    expect(retiredDevices({ pools: [b], retired: once }, [a])).toEqual([]);
  });
});

describe("leases", () => {
  const [lease] = withLease([], { id: "v0", name: "v0" }, [1]);
  if (lease === undefined) throw new Error("no lease");

  it("takes a program for that of the pod only if it was seen while the pod had the device", () => {
    expect(leftPrograms(lease, [1, 2])).toEqual([]);
    expect(leftPrograms(seeLease(lease, [1, 2]), [1, 2, 3])).toEqual([2]);
  });

  it("takes all new programs for those of the pod if the device was in its network namespace", () => {
    expect(leftPrograms(seeLease(lease, undefined), [1, 2, 3])).toEqual([2, 3]);
  });

  it("begins again with the next pod", () => {
    expect(withLease([seeLease(lease, [2])], lease, [2])).toEqual([{ ...lease, before: [2] }]);
  });
});
