// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { mergePolicies, policiesSelecting } from "./merge-policies.ts";
import { createRules } from "./rules.ts";
import { nics, node, policy } from "../testing/objects.ts";

const rulesOf = (...policies: SriovNetworkNodePolicy[]) => createRules({ policies, pools: [] });
const merge = (...policies: SriovNetworkNodePolicy[]) => mergePolicies(node(), nics, rulesOf(...policies));

/** Formats each PF as "ens803f1 4: p1res 0-1, p2res 2-3". */
function summary({ spec }: ReturnType<typeof mergePolicies>): string[] {
  return (spec.interfaces ?? []).map(({ name, numVfs, vfGroups = [] }) => {
    return `${name} ${numVfs}: ${vfGroups.map((group) => `${group.resourceName} ${group.vfRange}`).join(", ")}`;
  });
}

const on = (...pfNames: string[]) => ({ nicSelector: { pfNames } });

describe("mergePolicies", () => {
  it("returns an empty spec without policies (sriov-operator.md M-39)", () => {
    expect(merge()).toEqual({ spec: {}, problems: [], matches: [] });
  });

  it("orders PFs by the first policy that applies to them (sriov-operator.md B.10 #2)", () => {
    const merged = merge(
      policy("p1"),
      policy("p2", { priority: 100, ...on("ens803f2") }),
      policy("p0", on("ens803f0")),
    );
    expect(summary(merged)).toEqual(["ens803f2 2: p2res 0-1", "ens803f0 2: p0res 0-1", "ens803f1 2: p1res 0-1"]);
  });

  it("orders the PFs of one policy like the status", () => {
    const merged = merge(policy("all", { nicSelector: { pfNames: ["ens803f2", "ens803f1", "ens803f0"] } }));
    expect(summary(merged)).toEqual(["ens803f0 2: allres 0-1", "ens803f1 2: allres 0-1", "ens803f2 2: allres 0-1"]);
  });

  it("matches no NIC by an empty nicSelector, and reports it (sriov-operator.md B.10 #10)", () => {
    const { spec, problems } = merge(policy("p1", { nicSelector: { pfNames: [], rootDevices: [] } }));
    expect(spec).toEqual({});
    expect(problems).toMatchObject([{ code: "empty-nic-selector", field: "spec.nicSelector", severity: "error" }]);
  });

  it("reports field and value of a range with letters (sriov-operator.md B.10 #11)", () => {
    const { spec, problems, matches } = merge(policy("p1", on("ens803f0#a-c")));
    expect(spec).toEqual({});
    expect(problems).toEqual([
      {
        policyName: "p1",
        code: "bad-vf-range",
        severity: "error",
        field: "spec.nicSelector.pfNames[0]",
        value: "ens803f0#a-c",
        message:
          '"ens803f0#a-c" has an invalid VF range, so the policy is not applied to ens803f0: ' +
          'use FIRST-LAST, such as "ens803f0#0-3"',
      },
    ]);
    expect(matches).toEqual([{ policyName: "p1", pciAddresses: [] }]);
  });

  it("prefers the lowest priority number, and the last name among equal priorities", () => {
    const policies = [policy("c", { priority: 10 }), policy("a", { priority: 5 }), policy("b", { priority: 5 })];
    expect(summary(merge(...policies))).toEqual(["ens803f1 2: bres 0-1"]);
  });

  it("lowers numVfs for a policy of higher priority that takes all VFs", () => {
    expect(summary(merge(policy("weak", { numVfs: 8 }), policy("strong", { priority: 1 })))).toEqual([
      "ens803f1 2: strongres 0-1",
    ]);
  });

  it("partitions a PF across priorities, the highest priority first", () => {
    const low = policy("low", { numVfs: 8, ...on("ens803f1#4-7") });
    const mid = policy("mid", { numVfs: 8, priority: 50, ...on("ens803f1#0-1") });
    const high = policy("high", { numVfs: 6, priority: 1, ...on("ens803f1#2-3") });
    expect(summary(merge(low, mid, high))).toEqual(["ens803f1 8: highres 2-3, midres 0-1, lowres 4-7"]);
  });

  it("treats a policy as equal if the policy before it has the same priority but matches no NIC, as upstream does", () => {
    const weak = policy("weak", { numVfs: 8, priority: 50 });
    const idle = policy("a-idle", { priority: 40, ...on("absent") });
    const strong = policy("b-strong", { priority: 40 });
    expect(summary(merge(weak, strong))).toEqual(["ens803f1 2: b-strongres 0-1"]);
    expect(summary(merge(weak, idle, strong))).toEqual(["ens803f1 8: b-strongres 0-1"]);
  });

  it("reports a match but no PF for a policy with 0 VFs", () => {
    const merged = merge(policy("p1", { numVfs: 0 }));
    expect(merged).toEqual({
      spec: {},
      problems: [],
      matches: [{ policyName: "p1", pciAddresses: ["0000:86:00.1"] }],
    });
  });

  it("applies only policies that select the node", () => {
    const elsewhere = policy("p1", { nodeSelector: { zone: "b" } });
    expect(merge(elsewhere)).toEqual({ spec: {}, problems: [], matches: [] });
  });

  it("returns an empty spec and no problems for a node that has not reported its NICs yet", () => {
    expect(mergePolicies(node(), [], rulesOf(policy("p1")))).toEqual({
      spec: {},
      problems: [],
      matches: [{ policyName: "p1", pciAddresses: [] }],
    });
  });

  it("warns about a policy that matches no NIC, and lists the node's NICs", () => {
    const [problem, ...others] = merge(policy("p1", { nicSelector: { vendor: "15b3" } })).problems;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: "no-match", severity: "warning", field: "spec.nicSelector" });
    expect(problem?.value).toEqual({ vendor: "15b3" });
    expect(problem?.message).toContain("ens803f2 (0000:86:00.2, 8086:1572)");
  });

  it("reports a netFilter that does not name a network", () => {
    const { problems } = merge(policy("p1", { nicSelector: { netFilter: "3f5c" } }));
    expect(problems).toMatchObject([{ code: "bad-net-filter", field: "spec.nicSelector.netFilter", value: "3f5c" }]);
  });

  describe("with VF ranges", () => {
    it("keeps the range of an alternative name (sriov-operator.md M-4)", () => {
      const merged = merge(policy("p1", { numVfs: 8, ...on("storage0#2-5") }));
      expect(summary(merged)).toEqual(["ens803f2 8: p1res 2-5"]);
    });

    it("selects all VFs of a PF whose entry in pfNames has no range", () => {
      const merged = merge(policy("p1", { numVfs: 8, ...on("ens803f0#2-5", "ens803f1") }));
      expect(summary(merged)).toEqual(["ens803f0 8: p1res 2-5", "ens803f1 8: p1res 0-7"]);
    });

    it.each(["ens803f1#", "ens803f1#5", "ens803f1#0-1-2", "ens803f1#5-2", "ens803f1#0-1#2-3"])(
      "does not apply the policy to the PF of %s, but to the others (sriov-operator.md M-41)",
      (entry) => {
        const merged = merge(policy("p1", on("ens803f0#0-0", entry)), policy("p0", { numVfs: 4 }));
        expect(summary(merged)).toEqual(["ens803f1 4: p0res 0-3", "ens803f0 2: p1res 0-0"]);
        expect(merged.problems).toMatchObject([
          { policyName: "p1", code: "bad-vf-range", field: "spec.nicSelector.pfNames[1]", value: entry },
        ]);
      },
    );

    it("does not apply the policy to a PF whose alternative name has an invalid range", () => {
      expect(summary(merge(policy("p1", on("storage0#x", "ens803f0"))))).toEqual(["ens803f0 2: p1res 0-1"]);
    });

    it("reports an entry without a PF name, and applies the others (sriov-operator.md M-41)", () => {
      const merged = merge(policy("p1", on("#5", "ens803f1")));
      expect(summary(merged)).toEqual(["ens803f1 2: p1res 0-1"]);
      expect(merged.problems).toMatchObject([
        { code: "no-pf-name", field: "spec.nicSelector.pfNames[0]", value: "#5" },
      ]);
    });

    it("uses the first of two ranges of one PF, and warns", () => {
      const merged = merge(policy("p1", { numVfs: 8, ...on("ens803f2#0-1", "storage0#4-5") }));
      expect(summary(merged)).toEqual(["ens803f2 8: p1res 0-1"]);
      expect(merged.problems).toMatchObject([
        { code: "pf-named-twice", severity: "warning", field: "spec.nicSelector.pfNames[1]", value: "storage0#4-5" },
      ]);
    });

    it("reports nothing for an entry that selects the same VFs as another", () => {
      expect(merge(policy("p1", on("ens803f2#0-1", "storage0#0-1"))).problems).toEqual([]);
    });
  });

  it("applies a policy to a PF without a name", () => {
    const nameless: InterfaceStatus = { pciAddress: "0000:86:00.3", vendor: "8086", deviceID: "158b", totalvfs: 64 };
    const { spec } = mergePolicies(node(), [nameless], rulesOf(policy("p1", { nicSelector: { vendor: "8086" } })));
    expect(spec.interfaces).toMatchObject([{ pciAddress: "0000:86:00.3", numVfs: 2 }]);
    expect(spec.interfaces?.[0]).not.toHaveProperty("name");
  });
});

describe("policiesSelecting", () => {
  it("lists the policies that select the node by priority, whether or not they match a NIC", () => {
    const rules = rulesOf(
      policy("strong", { priority: 1, nodeSelector: { zone: "a" } }),
      policy("weak", on("absent")),
      policy("elsewhere", { nodeSelector: { zone: "b" } }),
    );
    const selecting = policiesSelecting(node("n", { zone: "a" }), rules);
    expect(selecting.map(({ metadata }) => metadata.name)).toEqual(["weak", "strong"]);
  });
});

describe("policies of one resource with different settings", () => {
  it("have a problem each, which names the setting, the other policy and the one that applies", () => {
    const shared = { resourceName: "fast", nodeSelector: {} };
    const weak = policy("weak", { ...shared, nicSelector: { pfNames: ["ens803f0"] }, isRdma: true });
    const strong = policy("strong", { ...shared, nicSelector: { pfNames: ["ens803f1"] }, priority: 10 });
    const problems = merge(weak, strong).problems.map(({ policyName, severity, field, message }) => {
      return `${policyName} ${severity} ${field}: ${message}`;
    });
    const end = "the value of policy strong applies to all VFs of the resource; use another resourceName";
    expect(problems).toEqual([
      `weak warning spec.isRdma: is true, but false in policy strong, which has the same resourceName fast: ${end}`,
      `strong warning spec.isRdma: is false, but true in policy weak, which has the same resourceName fast: ${end}`,
    ]);
  });

  it("have none if only one of them has VFs on the node", () => {
    const shared = { resourceName: "fast", nodeSelector: {} };
    const kernel = policy("kernel", { ...shared, nicSelector: { pfNames: ["ens803f0"] } });
    const user = policy("user", { ...shared, nicSelector: { pfNames: ["other"] }, deviceType: "vfio-pci" });
    expect(merge(kernel, user).problems.map(({ code }) => code)).toEqual(["no-match"]);
  });
});
