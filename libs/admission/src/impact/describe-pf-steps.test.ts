// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describePfSteps } from "./describe-pf-steps.ts";

const pciAddress = "0000:3b:00.0";

describe("the summary of a PF's steps", () => {
  it("has its own changes in their order, then the VFs of each driver, then what else is set, each once", () => {
    const bind = (vfId: number) => ({ kind: "bind-driver", pciAddress, vfId, to: "vfio-pci" }) as const;
    const summary = describePfSteps(
      [
        { kind: "set-vf-mtu", pciAddress, vfId: 0, to: 9000 },
        { kind: "set-vf-mtu", pciAddress, vfId: 1, to: 9000 },
        bind(2),
        bind(3),
        { kind: "set-pf-mtu", pciAddress, from: 1500, to: 9000 },
        { kind: "set-num-vfs", pciAddress, from: 8, to: 16 },
      ],
      [],
    );
    const parts = summary.split(", ");
    expect(parts).toHaveLength(4);
    expect(parts.slice(0, 2)).toEqual(["mtu 1500 -> 9000", "8 -> 16 VFs"]);
    expect(parts[2]).toMatch(/^2 VFs /);
  });

  it("is the first reason if there are no steps, and else the resources of the VFs", () => {
    expect(describePfSteps([], [{ field: "spec", text: "the PF is reset" }])).toBe("the PF is reset");
    expect(describePfSteps([], [])).toBe("device assignment changes");
  });
});
