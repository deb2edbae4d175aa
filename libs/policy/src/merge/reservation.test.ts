// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, SriovNetworkNodePolicy, SriovNetworkNodePolicySpec } from "@switchyard/api";
import fc from "fast-check";
import { mergePolicies } from "./merge-policies.ts";
import { createRules } from "./rules.ts";
import { blueFieldPf, nics, node, policy } from "../testing/objects.ts";
import { includesVf, parseVfRange } from "../vfs/vf-range.ts";

const first = blueFieldPf("0000:3b:00.0", { altNames: ["enp59s0f0np0"] });
const second = blueFieldPf("0000:3b:00.1", { name: "ens1f1np1" });
const interfaces = [...nics, second, first];
const marker = { "switchyard.io/ovn-offload-pool": "dpu-host" };
const reserved = { deviceType: "netdevice", vfRange: "0-0", reservedFor: "ovn-management-port" };

function merge(
  policies: readonly SriovNetworkNodePolicy[],
  labels: Readonly<Record<string, string>> = marker,
  pfs: readonly InterfaceStatus[] = interfaces,
) {
  return mergePolicies(node("worker-1", labels), pfs, createRules({ policies, pools: [] }));
}

/** Returns the ranges of the PF's groups, with their policies. */
function groupsOf(merged: ReturnType<typeof merge>, pciAddress = first.pciAddress) {
  const pf = merged.spec.interfaces?.find((one) => one.pciAddress === pciAddress);
  return pf?.vfGroups?.map(({ policyName = "reserved", vfRange = "" }) => `${policyName} ${vfRange}`);
}

function own(name: string, nicSelector: SriovNetworkNodePolicySpec["nicSelector"], spec = {}): SriovNetworkNodePolicy {
  return policy(name, { numVfs: 4, nicSelector, ...spec });
}

describe("VF 0 of the management PF", () => {
  it.each([
    { does: "vendor and device", nicSelector: { vendor: "15b3", deviceID: "a2d6" }, groups: ["p 1-3"] },
    { does: "a name", nicSelector: { pfNames: ["ens1f0np0"] }, groups: ["p 1-3"] },
    { does: "a range with VF 0", nicSelector: { pfNames: ["ens1f0np0#0-2"] }, groups: ["p 1-2"] },
    { does: "a range without VF 0", nicSelector: { pfNames: ["ens1f0np0#2-3"] }, groups: ["p 2-3"] },
    { does: "VF 0 alone", nicSelector: { pfNames: ["ens1f0np0#0-0"] }, groups: [] },
    { does: "an alternative name", nicSelector: { pfNames: ["enp59s0f0np0"] }, groups: ["p 1-3"] },
    { does: "an alternative name's range", nicSelector: { pfNames: ["enp59s0f0np0#0-1"] }, groups: ["p 1-1"] },
    { does: "an address", nicSelector: { rootDevices: ["0000:3b:00.0"] }, groups: ["p 1-3"] },
  ])("is reserved if a policy selects $does", ({ nicSelector, groups }) => {
    const merged = merge([own("p", nicSelector)]);
    expect(groupsOf(merged)).toEqual(["reserved 0-0", ...groups]);
    expect(merged.spec.interfaces?.find(({ pciAddress }) => pciAddress === first.pciAddress)?.numVfs).toBe(4);
    expect(merged.problems.map(({ code, severity }) => [code, severity])).toEqual(
      groups.length === 0 ? [["vf-reserved", "warning"]] : [],
    );
  });

  it("is the only VF that a policy for both ports loses; both get the mode of the card", () => {
    const { spec } = merge([own("p", { vendor: "15b3" })]);
    const common = { numVfs: 4, cardMode: "embedded-cpu" };
    const group = { resourceName: "pres", deviceType: "netdevice", policyName: "p" };
    expect(spec.interfaces).toEqual([
      { ...common, pciAddress: second.pciAddress, name: "ens1f1np1", vfGroups: [{ ...group, vfRange: "0-3" }] },
      {
        ...common,
        pciAddress: first.pciAddress,
        name: "ens1f0np0",
        vfGroups: [reserved, { ...group, vfRange: "1-3" }],
      },
    ]);
  });

  it("has the resource that the node's label names", () => {
    const merged = merge([own("p", { vendor: "15b3" })], {
      ...marker,
      "switchyard.io/ovn-management-resource": "mgmt",
    });
    expect(merged.spec.interfaces?.[1]?.vfGroups?.[0]).toEqual({ resourceName: "mgmt", ...reserved });
  });

  it("has as many others after it as the node's label says", () => {
    const merged = merge([own("p", { vendor: "15b3" })], { ...marker, "switchyard.io/ovn-management-vfs": "3" });
    expect(groupsOf(merged)).toEqual(["reserved 0-2", "p 3-3"]);
    expect(groupsOf(merged, second.pciAddress)).toEqual(["p 0-3"]);
    const all = merge([own("p", { vendor: "15b3" })], { ...marker, "switchyard.io/ovn-management-vfs": "4" });
    expect(groupsOf(all)).toEqual(["reserved 0-3"]);
    expect(all.problems[0]?.message).toContain("VFs 0 to 3 of 0000:3b:00.0 are reserved for the management ports");
    for (const text of ["0", "-1", "999", "x", ""]) {
      const odd = merge([own("p", { vendor: "15b3" })], { ...marker, "switchyard.io/ovn-management-vfs": text });
      expect(groupsOf(odd)).toEqual(["reserved 0-0", "p 1-3"]);
    }
  });

  it("is all that its resource has, and a policy that requests just that has no problem", () => {
    const labels = { ...marker, "switchyard.io/ovn-management-resource": "mgmt" };
    const only = own("only", { pfNames: ["ens1f0np0#0-0"] }, { resourceName: "mgmt" });
    const more = own("more", { pfNames: ["ens1f1np1"] }, { resourceName: "mgmt" });
    const merged = merge([only, more], labels);
    expect([groupsOf(merged), groupsOf(merged, second.pciAddress)]).toEqual([["reserved 0-0"], []]);
    expect(merged.problems).toMatchObject([{ policyName: "more", code: "vf-reserved", field: "spec.resourceName" }]);
    expect(merged.problems).toHaveLength(1);
  });

  it("is reserved if it is the only one, with a warning that says why the policy gets none", () => {
    const merged = merge([own("p", { pfNames: ["ens1f0np0"] }, { numVfs: 1 })]);
    expect(groupsOf(merged)).toEqual(["reserved 0-0"]);
    expect(merged.problems).toMatchObject([{ policyName: "p", code: "vf-reserved", field: "spec.nicSelector" }]);
    expect(merged.problems[0]?.message).toContain("VF 0 of 0000:3b:00.0 is reserved for the management port");
  });

  it("does not let a policy for VF 0 alone displace the group of another policy", () => {
    const strong = own("strong", { pfNames: ["ens1f0np0#0-0"] }, { priority: 1, numVfs: 8 });
    const merged = merge([own("weak", { pfNames: ["ens1f0np0"] }), strong]);
    expect(groupsOf(merged)).toEqual(["reserved 0-0", "weak 1-3"]);
    expect(merged.spec.interfaces?.[0]?.numVfs).toBe(8);
  });

  it("is reserved on an externally managed PF, too", () => {
    const merged = merge([own("p", { pfNames: ["ens1f0np0"] }, { externallyManaged: true })]);
    expect(merged.spec.interfaces).toMatchObject([
      { externallyManaged: true, vfGroups: [reserved, { vfRange: "1-3" }] },
    ]);
  });

  it("is not removed if no policy selects the PF any more, as long as the node has the label", () => {
    const configured = [
      { ...first, owned: true, numVfs: 16 },
      { ...second, owned: true, numVfs: 16 },
    ];
    expect(merge([], marker, configured).spec).toEqual({ unselected: [second.pciAddress] });
    expect(merge([], {}, configured).spec).toEqual({ unselected: [first.pciAddress, second.pciAddress] });
  });

  it("is not created without a policy on a PF that Switchyard has not configured", () => {
    expect(merge([]).spec).toEqual({});
  });
});

describe("a node", () => {
  const policies = [own("p", { vendor: "15b3" }), own("q", { vendor: "8086" })];

  it.each([
    { does: "without the label", labels: { "switchyard.io/ovn-management-resource": "mgmt" } },
    { does: "with an empty label", labels: { "switchyard.io/ovn-offload-pool": "" } },
  ])("$does has no reservation", ({ labels }) => {
    const { spec, problems } = merge(policies, labels);
    expect(JSON.stringify(spec)).not.toMatch(/reservedFor|cardMode/);
    expect(spec).toEqual(merge(policies, {}).spec);
    expect(problems).toEqual([]);
  });

  it("without a SmartNIC has no reservation", () => {
    expect(merge(policies, marker, nics).spec).toEqual(merge(policies, {}, nics).spec);
  });

  it("disables Open vSwitch only if both labels say so", () => {
    const files = { "switchyard.io/ovn-offload-files": "daemon" };
    expect(merge([], { ...marker, ...files }).spec).toEqual({ system: { openVSwitchDisabled: true } });
    expect(merge([], files).spec).toEqual({});
    expect(merge([], { ...marker, "switchyard.io/ovn-offload-files": "other" }).spec).toEqual({});
  });
});

describe("mergePolicies on a host, for any policies,", () => {
  const range = fc.tuple(fc.nat(5), fc.nat(3)).map(([start, more]) => `#${start}-${start + more}`);
  const pfNames = fc
    .tuple(fc.constantFrom("ens1f0np0", "ens1f1np1", "enp59s0f0np0", "ens803f0"), fc.option(range, { nil: "" }))
    .map(([name, text]) => [name + text]);
  const specs = fc.record({
    resourceName: fc.constantFrom("red", "green", "mgmt", ""),
    priority: fc.constantFrom(0, 10, 10, 99),
    numVfs: fc.nat(8),
    externallyManaged: fc.boolean(),
    nicSelector: fc.oneof(
      fc.record({ pfNames }),
      fc.constantFrom({ vendor: "15b3" }, { deviceID: "a2d6" }, { rootDevices: ["0000:3b:00.0"] }),
    ),
  });
  const anyPolicies = fc.array(specs, { maxLength: 5 }).map((all) => all.map((spec, at) => policy(`p${at}`, spec)));
  const labels = fc.constantFrom(marker, { ...marker, "switchyard.io/ovn-management-resource": "mgmt" });

  it("puts VF 0 of the management PF into the reserved group only, and its resource has no other VF", () => {
    const isReserved = fc.property(anyPolicies, labels, (policies, own) => {
      const { spec } = merge(policies, own);
      for (const { pciAddress, vfGroups = [], numVfs = 0 } of spec.interfaces ?? []) {
        const isManagement = pciAddress === first.pciAddress;
        expect(vfGroups.filter(({ reservedFor }) => reservedFor)).toHaveLength(isManagement ? 1 : 0);
        expect(numVfs).toBeGreaterThan(0);
        for (const { vfRange = "", reservedFor, resourceName } of vfGroups) {
          if (reservedFor !== undefined) continue;
          const parsed = parseVfRange(vfRange);
          expect(parsed.ok && !(isManagement && includesVf(parsed.value, 0))).toBe(true);
          if ("switchyard.io/ovn-management-resource" in own) expect(resourceName).not.toBe("mgmt");
        }
      }
    });
    fc.assert(isReserved);
  });

  it("does not change number and owner of VFs, nor the PFs that are not of the SmartNIC", () => {
    const isSame = fc.property(anyPolicies, (policies) => {
      const [marked, plain] = [merge(policies).spec, merge(policies, {}).spec];
      const onOthers = ({ interfaces: all = [] }: typeof plain) => all.filter(({ name }) => name === "ens803f0");
      expect(onOthers(marked)).toEqual(onOthers(plain));
      const pfs = ({ interfaces: all = [] }: typeof plain) => all.map(({ pciAddress }) => pciAddress);
      expect(pfs(marked)).toEqual(pfs(plain));
    });
    fc.assert(isSame);
  });
});
