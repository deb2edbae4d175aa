// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SystemStatus } from "@switchyard/api";
import { describeStep, type Plan, type Step } from "@switchyard/plan";
import type { BootResult } from "../boot-files/boot-result.ts";
import { planForBoot } from "./plan-for-boot.ts";
import type { PreparedBoot } from "./prepare-boot.ts";

const pciAddress = "0000:01:00.0";
const setVfs: Step = { kind: "set-num-vfs", pciAddress, from: 0, to: 4 };
const setMtu: Step = { kind: "set-pf-mtu", pciAddress, from: 1500, to: 9000 };
const bootId = "b2";

function planOf(...steps: readonly Step[]): Plan {
  return { steps, impact: steps.length > 0 ? "drain" : "none", reasons: [], problems: [] };
}

function plan(next: Plan, boot: Partial<PreparedBoot> = {}, reboot?: SystemStatus["reboot"]) {
  const prepared = { configDigest: "d1", result: undefined, obstacle: undefined, ...boot };
  const system = reboot === undefined ? {} : { reboot };
  const { steps, impact, problems, reasons } = planForBoot(next, { system, bootId }, prepared);
  return {
    steps: steps.map(describeStep),
    impact,
    reasons: reasons.map(({ text }) => text),
    problems: problems.map(({ message }) => message),
  };
}

function result(overrides: Partial<BootResult> = {}): BootResult {
  return { syncStatus: "Succeeded", lastSyncError: "", bootID: bootId, configDigest: "d1", ...overrides };
}

describe("planForBoot", () => {
  it("does not reboot a node that matches its spec, also after a change of the configuration", () => {
    const nothing = { steps: [], impact: "none", reasons: [], problems: [] };
    expect(plan(planOf())).toEqual(nothing);
    expect(plan(planOf(), { result: result({ configDigest: "d0" }) })).toEqual(nothing);
  });

  it("reboots a node in place of changing its PFs, and says what for", () => {
    const load: Step = { kind: "load-module", module: "vfio-pci" };
    expect(plan(planOf(load, setMtu, setVfs))).toEqual({
      steps: ["reboot for boot configuration d1"],
      impact: "reboot",
      reasons: [
        `the node is in systemd mode and reboots to ${describeStep(setMtu)}, set sriov_numvfs 0 -> 4 on ${pciAddress}`,
      ],
      problems: [],
    });
  });

  it("names at most three steps", () => {
    const steps = [0, 1, 2, 3, 4].map((vfId): Step => ({ kind: "bind-driver", pciAddress, vfId, to: "default" }));
    expect(plan(planOf(...steps)).reasons).toEqual([expect.stringMatching(/VF 2 .*, 2 other steps$/)]);
  });

  it("reboots for a configuration that the last boot did not have", () => {
    expect(plan(planOf(setVfs), { result: result({ configDigest: "d0", syncStatus: "Failed" }) }).impact).toBe(
      "reboot",
    );
    expect(plan(planOf(setVfs), { result: result({ bootID: "b1" }) }).impact).toBe("reboot");
  });

  it.each([
    {
      where: "a phase failed",
      boot: { result: result({ syncStatus: "Failed", lastSyncError: "post: set mtu 9000: EIO" }) },
      problem: "post: set mtu 9000: EIO",
    },
    {
      where: "the second phase did not end",
      boot: { result: result({ syncStatus: "InProgress" }) },
      problem: "post: sriov-config-post-network.service has not finished in this boot; not done yet: set sriov_numvfs",
    },
    {
      where: "the node was changed after its boot",
      boot: { result: result() },
      problem:
        "the node was changed after its boot; the next boot configures it; not done yet: set sriov_numvfs 0 -> 4",
    },
    {
      where: "the units did not run in the reboot for this configuration",
      boot: {},
      reboot: { causes: ["boot configuration d1"], done: true },
      problem: "pre: sriov-config.service did not run in the last boot; see its log with journalctl; not done yet: set",
    },
    {
      where: "the units are not installed",
      boot: { obstacle: "unit a.service is not enabled yet" },
      problem: "unit a.service is not enabled yet; not done yet: set sriov_numvfs 0 -> 4 on 0000:01:00.0",
    },
  ])("does not reboot again, and reports the problem, if $where", ({ boot, reboot, problem }) => {
    const { steps, impact, problems } = plan(planOf(setVfs), boot, reboot);
    expect([steps, impact]).toEqual([[], "none"]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it("continues a reboot that was recorded and has not happened", () => {
    const reboot = { causes: ["boot configuration d1"], done: false };
    expect(plan(planOf(setVfs), {}, reboot).steps).toEqual(["reboot for boot configuration d1"]);
  });

  it("forgets the reboot when the node matches its spec, so that the same configuration can be requested again", () => {
    const reboot = { causes: ["kernel argument iommu=pt", "boot configuration d0"], done: true };
    expect(plan(planOf(), {}, reboot).steps).toEqual(["forget the reboot for boot configuration d0"]);
  });

  it("leaves a reboot for another reason unchanged", () => {
    const other = planOf(setVfs, { kind: "reboot", causes: ["kernel argument iommu=pt"], isPending: true });
    expect(plan(other).steps).toEqual(other.steps.map(describeStep));
  });
});
