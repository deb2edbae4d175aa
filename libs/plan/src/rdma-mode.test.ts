// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SystemStatus } from "@switchyard/api";
import { isConverged, plan } from "./plan.ts";
import { describeProblem } from "./problem.ts";
import { rdmaModeDifference } from "./rdma-mode.ts";
import { describeStep } from "./steps/step.ts";

function planned(rdmaMode: "shared" | "exclusive" | "" | undefined, system: SystemStatus) {
  const pfs = [{ pciAddress: "0000:3b:00.0", numVfs: 2, totalvfs: 8 }];
  const wanted = pfs.map(({ pciAddress, numVfs }) => ({ pciAddress, numVfs, vfGroups: [] }));
  const spec = { interfaces: wanted, ...(rdmaMode !== undefined && { system: { rdmaMode } }) };
  const result = plan(spec, { interfaces: pfs, system }, new Map());
  return { ...result, isConverged: isConverged(result), steps: result.steps.map(describeStep) };
}

describe("plan for an RDMA mode", () => {
  it.each<{ what: string; wanted: "shared" | "exclusive" | "" | undefined; system: SystemStatus }>([
    { what: "has the mode", wanted: "shared", system: { rdmaMode: "shared", persistentRdmaMode: "shared" } },
    { what: "is in no pool with a mode", wanted: undefined, system: { rdmaMode: "exclusive" } },
    { what: "has an empty mode in the spec", wanted: "", system: { rdmaMode: "exclusive" } },
    { what: "gets the mode when ib_core is loaded", wanted: "exclusive", system: { persistentRdmaMode: "exclusive" } },
    { what: "has a foreign file and no wish", wanted: undefined, system: { persistentRdmaMode: "foreign" } },
  ])("is empty for a node that $what (sriov-operator.md M-44, M-45)", ({ wanted, system }) => {
    expect(planned(wanted, system)).toMatchObject({ isConverged: true, impact: "none" });
  });

  it("writes the option before it changes the mode, without a drain", () => {
    expect(planned("exclusive", { rdmaMode: "shared" })).toMatchObject({
      steps: ["set RDMA mode exclusive in /etc/modprobe.d", "set RDMA mode shared -> exclusive"],
      impact: "none",
      problems: [],
    });
  });

  it("only writes the option if the node has the mode already, or has no mode", () => {
    expect(planned("shared", { rdmaMode: "shared", persistentRdmaMode: "exclusive" }).steps).toEqual([
      "set RDMA mode exclusive -> shared in /etc/modprobe.d",
    ]);
    expect(planned("shared", {}).steps).toEqual(["set RDMA mode shared in /etc/modprobe.d"]);
  });

  it("returns to the initial mode before it removes the option, without a drain, if no mode is requested any more", () => {
    const system = { rdmaMode: "exclusive", persistentRdmaMode: "exclusive", initialRdmaMode: "shared" } as const;
    const remove = "remove RDMA mode exclusive from /etc/modprobe.d";
    expect(planned(undefined, system)).toMatchObject({
      steps: ["set RDMA mode exclusive -> shared", remove],
      impact: "none",
    });
    expect(planned(undefined, { ...system, rdmaMode: "shared" }).steps).toEqual([remove]);
    const refused = planned(undefined, { ...system, refusedRdmaMode: "shared" });
    expect(refused).toMatchObject({ steps: [remove], impact: "none", problems: [] });
  });

  it("removes the option, and keeps the mode, if the initial mode is not known (sriov-operator.md M-44)", () => {
    for (const wanted of [undefined, ""] as const) {
      expect(planned(wanted, { rdmaMode: "exclusive", persistentRdmaMode: "exclusive" })).toMatchObject({
        steps: ["remove RDMA mode exclusive from /etc/modprobe.d"],
        impact: "none",
        problems: [],
      });
    }
  });

  it("changes the mode, and reports the file, if the file has foreign content", () => {
    const { steps, problems } = planned("exclusive", { rdmaMode: "shared", persistentRdmaMode: "foreign" });
    expect(steps).toEqual(["set RDMA mode shared -> exclusive"]);
    expect(problems.map(describeProblem)).toEqual([
      'spec.system.rdmaMode: "exclusive" requested, but /etc/modprobe.d/sriov_network_operator_modules_config.conf has ' +
        "content that Switchyard did not write; remove the file, or the mode may be another one after a reboot",
    ]);
  });

  it("reboots once if the kernel has refused the mode and the option is written", () => {
    const system = { rdmaMode: "shared", persistentRdmaMode: "exclusive", refusedRdmaMode: "exclusive" } as const;
    const cause = "RDMA mode exclusive";
    const { steps, impact, reasons } = planned("exclusive", system);
    expect([steps.length, steps[0]?.includes(cause), impact]).toEqual([1, true, "reboot"]);
    expect(reasons).toEqual([
      {
        field: "spec.system.rdmaMode",
        text: "RDMA mode exclusive takes effect at the next boot, because the kernel refuses it while pods run",
      },
    ]);
    const after = planned("exclusive", { ...system, reboot: { causes: [cause], done: true } });
    expect([after.steps, after.impact]).toEqual([[], "none"]);
    expect(after.problems.map(describeProblem)).toEqual([expect.stringContaining("is not in effect after a reboot")]);
  });

  it("reboots at once, and does not try the change, while network namespaces of pods exist", () => {
    const system = { rdmaMode: "shared", hasNetworkNamespaces: true } as const;
    const { steps, impact, reasons } = planned("exclusive", system);
    expect([steps, impact]).toEqual([
      ["set RDMA mode exclusive in /etc/modprobe.d", expect.stringContaining("reboot")],
      "reboot",
    ]);
    expect(reasons).toHaveLength(1);
    expect(planned("exclusive", { ...system, persistentRdmaMode: "exclusive" })).toMatchObject({ impact: "reboot" });
    // A file of somebody else decides about the mode after a reboot.
    expect(planned("exclusive", { ...system, persistentRdmaMode: "foreign" })).toMatchObject({ impact: "none" });
  });

  it("tries another mode than the refused one, and a refused one before the option is written", () => {
    const refusedRdmaMode = "shared";
    expect(
      planned("exclusive", { rdmaMode: "shared", persistentRdmaMode: "exclusive", refusedRdmaMode }).steps,
    ).toEqual(["set RDMA mode shared -> exclusive"]);
    expect(planned("shared", { rdmaMode: "exclusive", refusedRdmaMode })).toMatchObject({
      steps: ["set RDMA mode shared in /etc/modprobe.d", "set RDMA mode exclusive -> shared"],
      impact: "none",
    });
  });

  it("forgets the reboot when the mode is in effect, so that it can be requested again", () => {
    const reboot = { causes: ["RDMA mode exclusive"], done: true };
    const { steps } = planned("exclusive", { rdmaMode: "exclusive", persistentRdmaMode: "exclusive", reboot });
    expect(steps).toHaveLength(1);
  });

  it("refuses a mode that does not exist", () => {
    const rdmaMode: unknown = "all\n";
    const spec: unknown = { system: { rdmaMode } };
    const result = plan(spec as Parameters<typeof plan>[0], { system: { rdmaMode: "shared" } }, new Map());
    expect(result.steps).toEqual([]);
    expect(result.problems.map(describeProblem)).toEqual([
      'spec.system.rdmaMode: "all\\n" is not supported; supported values are "shared" and "exclusive"',
    ]);
  });
});

describe("rdmaModeDifference", () => {
  it("describes a mode that must change, and nothing else", () => {
    const spec = { system: { rdmaMode: "exclusive" } } as const;
    expect(rdmaModeDifference(spec, { system: { rdmaMode: "shared" } })).toContain("but the node is in shared mode");
    const onPods = rdmaModeDifference(spec, { system: { rdmaMode: "shared", hasNetworkNamespaces: true } });
    expect(onPods).toContain("reboots to change it, because it runs pods");
    expect(rdmaModeDifference(spec, { system: { rdmaMode: "exclusive" } })).toBeUndefined();
    expect(rdmaModeDifference(spec, {})).toBeUndefined();
    expect(rdmaModeDifference({}, { system: { rdmaMode: "shared" } })).toBeUndefined();
  });
});
