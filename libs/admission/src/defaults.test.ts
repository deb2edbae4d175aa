// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { applyDefaults } from "./defaults.ts";
import { policy } from "./testing/objects.ts";

const create = (object: ReturnType<typeof policy>) => applyDefaults({ operation: "CREATE", object });

describe("applyDefaults", () => {
  it("fills in priority 99 and isRdma false", () => {
    expect(create(policy("p1")).patch).toEqual([]);
    const { priority: _priority, isRdma: _isRdma, ...spec } = policy("p1").spec;
    const defaulted = create({ ...policy("p1"), spec });
    expect(defaulted.patch).toEqual([
      { op: "add", path: "/spec/priority", value: 99 },
      { op: "add", path: "/spec/isRdma", value: false },
    ]);
    expect(defaulted.object.spec).toMatchObject({ priority: 99, isRdma: false });
  });

  it.each([
    { linkType: "ib", deviceType: "netdevice", isRdma: false, patched: [true] },
    { linkType: "IB", deviceType: "netdevice", isRdma: true, patched: [] },
    { linkType: "ib", deviceType: "vfio-pci", isRdma: false, patched: [] },
    { linkType: "eth", deviceType: "netdevice", isRdma: true, patched: [] },
  ] as const)("sets isRdma of $linkType $deviceType, sent as $isRdma", ({ patched, ...spec }) => {
    expect(create(policy("p1", spec)).patch.map(({ value }) => value)).toEqual(patched);
  });

  it("keeps the stored priority if an update omits it (sriov-operator.md M-38)", () => {
    const { priority: _, ...spec } = policy("p1").spec;
    const object = { ...policy("p1"), spec };
    const updated = (priority: number) =>
      applyDefaults({ operation: "UPDATE", object, oldObject: policy("p1", { priority }) });
    expect(updated(0).patch).toEqual([{ op: "add", path: "/spec/priority", value: 0 }]);
    expect(updated(0).findings[0]?.message).toContain("the stored value 0 is kept");
    expect(updated(99).findings).toEqual([]);
    // A policy that is stored without a priority counts as 0 and keeps doing so.
    expect(applyDefaults({ operation: "UPDATE", object, oldObject: object }).patch).toEqual([]);
  });
});
