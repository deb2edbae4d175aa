// SPDX-License-Identifier: Apache-2.0
/** Descriptions of fields, as `kubectl explain` prints them, on which administrators decide whether nodes lose pods. */
import { describe, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies, sriovNetworkPoolConfigs } from "./index.ts";
import { schemas } from "./schemas.gen.ts";

function descriptionOf(kind: string, field: string): string {
  return schemas[kind]?.properties?.["spec"]?.properties?.[field]?.description ?? "";
}

describe("the description of rdmaMode", () => {
  const text = descriptionOf(sriovNetworkPoolConfigs.kind, "rdmaMode");

  it("says that the mode is changed, and that nodes with pods are drained and reboot (libs/plan/src/rdma-mode.ts)", () => {
    expect(text).toMatch(/\bis changed\b/);
    expect(text).toMatch(/\bdrained and reboots\b/);
    expect(text).not.toContain("does not change");
  });

  it("names the field that limits how many nodes do this at once", () => {
    expect(text).toContain("maxUnavailable");
  });
});

describe("the description of deviceType", () => {
  const text = descriptionOf(sriovNetworkNodePolicies.kind, "deviceType");

  it("does not recommend vfio-pci for DPDK on Mellanox cards, whose DPDK driver needs the kernel driver", () => {
    expect(text).toMatch(/\bMellanox\b.*\bnetdevice\b.*\bisRdma\b/);
  });
});
