// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isBlockedBy } from "./blocked-by.ts";
import type { Step } from "./step.ts";

const pciAddress = "0000:3b:00.0";
const steps = {
  load: { kind: "load-module", module: "vfio-pci" },
  mtu: { kind: "set-pf-mtu", pciAddress, from: 1500, to: 9000 },
  count: { kind: "set-num-vfs", pciAddress, from: 0, to: 2 },
  mode: { kind: "set-eswitch-mode", pciAddress, from: "legacy", to: "switchdev" },
  bind0: { kind: "bind-driver", pciAddress, vfId: 0, to: "vfio-pci" },
  bind1: { kind: "bind-driver", pciAddress, vfId: 1, to: "default" },
  mac1: { kind: "set-vf-mac", pciAddress, vfId: 1 },
  mtu1: { kind: "set-vf-mtu", pciAddress, vfId: 1, to: 9000 },
  release: { kind: "release-pf", pciAddress },
  firmware: { kind: "set-firmware", card: "0000:3b:00", through: pciAddress, values: {} },
  resetCard: { kind: "reset-firmware", card: "0000:3b:00", ports: [pciAddress] },
  elsewhere: { kind: "set-vf-mtu", pciAddress: "0000:5e:00.0", vfId: 1, to: 9000 },
} as const satisfies Record<string, Step>;

describe("isBlockedBy", () => {
  it.each([
    { failed: "load", blocks: ["bind0"] },
    { failed: "mtu", blocks: ["mtu1", "release"] },
    { failed: "count", blocks: ["count", "mode", "bind0", "bind1", "mac1", "mtu1", "release"] },
    { failed: "mode", blocks: ["mtu", "count", "mode", "bind0", "bind1", "mac1", "mtu1", "release"] },
    { failed: "bind1", blocks: ["bind1", "mac1", "mtu1", "release"] },
    { failed: "mac1", blocks: ["release"] },
    { failed: "firmware", blocks: ["release", "resetCard"] },
  ] as const)("a failure of $failed blocks $blocks only", ({ failed, blocks }) => {
    const blocked = Object.entries(steps).filter(([, step]) => isBlockedBy(step, steps[failed]));
    expect(blocked.map(([name]) => name)).toEqual(blocks);
  });
});
