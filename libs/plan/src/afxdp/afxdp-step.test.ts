// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isAfxdpStepBlockedBy, type AfxdpStep } from "./afxdp-step.ts";

const device = "0000:86:00.0";
const steps = {
  mode: { kind: "set-eswitch-mode", device, from: "legacy", to: "switchdev" },
  create1: { kind: "create-subfunction", device, sfNumber: 1 },
  mac1: { kind: "set-subfunction-mac", device, sfNumber: 1 },
  mtu1: { kind: "set-mtu", device, sfNumber: 1, to: 9000 },
  activate1: { kind: "activate-subfunction", device, sfNumber: 1 },
  create2: { kind: "create-subfunction", device, sfNumber: 2 },
  delete3: { kind: "delete-subfunction", device, sfNumber: 3 },
  release: { kind: "release-device", device },
  elsewhere: { kind: "release-device", device: "0000:86:00.1" },
} as const satisfies Record<string, AfxdpStep>;

describe("isAfxdpStepBlockedBy", () => {
  it.each([
    {
      failed: "mode",
      blocks: ["mode", "create1", "mac1", "mtu1", "activate1", "create2", "delete3", "release"],
    },
    { failed: "create1", blocks: ["create1", "mac1", "mtu1", "activate1", "release"] },
    { failed: "mtu1", blocks: ["release"] },
    { failed: "delete3", blocks: ["mode", "delete3", "release"] },
  ] as const)("a failure of $failed blocks $blocks only", ({ failed, blocks }) => {
    const blocked = Object.entries(steps).filter(([, step]) => isAfxdpStepBlockedBy(step, steps[failed]));
    expect(blocked.map(([name]) => name)).toEqual(blocks);
  });
});
