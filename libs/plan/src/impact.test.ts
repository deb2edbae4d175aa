// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import { drainNeedOf } from "./impact.ts";
import { disruptionOf, isOfNode } from "./steps/step.ts";

const pciAddress = "0000:3b:00.0";

describe("drainNeedOf", () => {
  it.each([
    { impact: "none", need: undefined },
    { impact: "drain", need: "Drain_Required" },
    { impact: "reboot", need: "Reboot_Required" },
  ] as const)("is $need for the impact $impact", ({ impact, need }) => {
    expect(drainNeedOf(impact)).toBe(need);
  });
});

describe("the disruption by another MTU of the PF", () => {
  const step = { kind: "set-pf-mtu", pciAddress, from: 1500, to: 9000 } as const;
  const pf: InterfaceStatus = { pciAddress, numVfs: 0 };

  it("is none without VFs", () => {
    expect(disruptionOf(step, pf)).toBeUndefined();
  });

  it.each([
    { numVfs: 1, whose: "the existing VF" },
    { numVfs: 2, whose: "the 2 existing VFs" },
  ])("is a loss of the link with numVfs $numVfs", ({ numVfs, whose }) => {
    expect(disruptionOf(step, { ...pf, numVfs })).toEqual({
      cause: "mtu",
      text: `changing the MTU from 1500 to 9000 interrupts the link of ${whose}`,
    });
  });
});

describe("isOfNode", () => {
  it("is true for what is done for the whole node, and false for what some PFs need", () => {
    expect(isOfNode({ kind: "set-kernel-arguments", add: ["pci=realloc"], remove: [] })).toBe(true);
    expect(isOfNode({ kind: "load-module", module: "vfio-pci" })).toBe(false);
    expect(isOfNode({ kind: "set-link-up", pciAddress })).toBe(false);
  });
});
