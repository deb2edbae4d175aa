// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { changedVfs, stepKinds, summaryOf, type PfStep, type Step } from "./step.ts";

const pciAddress = "0000:3b:00.0";
const vf = { pciAddress, vfId: 3 };

describe("changedVfs", () => {
  const all = { pciAddress, vfId: "all" };
  it.each<{ does: string; step: Step; changed: unknown }>([
    {
      does: "is all VFs for another number",
      step: { kind: "set-num-vfs", pciAddress, from: 4, to: 8 },
      changed: all,
    },
    {
      does: "is all VFs for another eswitch mode",
      step: { kind: "set-eswitch-mode", pciAddress, from: "legacy", to: "switchdev" },
      changed: all,
    },
    { does: "is one VF for another driver", step: { kind: "bind-driver", ...vf, to: "vfio-pci" }, changed: vf },
    {
      does: "is one VF for an address that needs a rebind",
      step: { kind: "set-vf-mac", ...vf, rebind: true },
      changed: vf,
    },
    {
      does: "is one VF for a GUID that needs a rebind",
      step: { kind: "set-vf-guid", ...vf, rebind: true },
      changed: vf,
    },
    { does: "is one VF for a reset", step: { kind: "reset-vf", ...vf, settings: ["trust"] }, changed: vf },
    { does: "is none for an address alone", step: { kind: "set-vf-mac", ...vf }, changed: undefined },
    { does: "is none for an MTU", step: { kind: "set-vf-mtu", ...vf, to: 9000 }, changed: undefined },
    { does: "is none for a step of the node", step: { kind: "load-module", module: "vfio-pci" }, changed: undefined },
  ])("$does", ({ step, changed }) => {
    expect(changedVfs(step)).toEqual(changed);
  });
});

describe("summaryOf", () => {
  it.each<{ step: PfStep; text: string | undefined }>([
    { step: { kind: "set-num-vfs", pciAddress, from: 8, to: 16 }, text: "8 -> 16 VFs" },
    { step: { kind: "set-link-up", pciAddress }, text: `set link up on ${pciAddress}` },
    { step: { kind: "release-pf", pciAddress }, text: undefined },
  ])("of $step.kind is $text", ({ step, text }) => {
    expect(summaryOf(step)).toBe(text);
  });
});

describe("stepKinds", () => {
  it("names each kind once, of nodes and of PFs", () => {
    expect(new Set(stepKinds).size).toBe(stepKinds.length);
    expect(stepKinds).toEqual(expect.arrayContaining(["reboot", "release-pf"]));
  });
});
