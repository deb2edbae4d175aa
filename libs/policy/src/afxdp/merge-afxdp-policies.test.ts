// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type {
  AfxdpInterfaceStatus,
  AfxdpNetworkNodePolicy,
  AfxdpNetworkNodePolicySpec,
  AfxdpNetworkNodeStateSpec,
  AfxdpNicSelector,
  AfxdpProvider,
} from "@switchyard/api";
import { afxdpNics, afxdpPolicy, node } from "../testing/objects.ts";
import { toPfAddresses } from "../pods/pf-addresses.ts";
import { afxdpDevices, sriovUse, type SriovUseSource } from "./afxdp-device.ts";
import { createAfxdpRules } from "./afxdp-rules.ts";
import { mergeAfxdpPolicies } from "./merge-afxdp-policies.ts";

interface Given {
  readonly nics?: readonly AfxdpInterfaceStatus[];
  readonly sriov?: SriovUseSource;
  readonly provider?: AfxdpProvider;
  /** The spec of the node state. */
  readonly stored?: AfxdpNetworkNodeStateSpec;
}

function merge(policies: readonly AfxdpNetworkNodePolicy[], given: Given = {}) {
  const { nics = afxdpNics, sriov = {}, provider, stored } = given;
  const devices = afxdpDevices({ interfaces: nics }, sriovUse(sriov), stored);
  const operatorConfig = {
    ...({ apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig" } as const),
    metadata: { name: "default" },
    spec: { ...(provider && { provider }) },
  };
  return mergeAfxdpPolicies(node("worker-1", { zone: "a" }), devices, createAfxdpRules({ policies, operatorConfig }));
}

/** The fields of the devices, changed: `withFields("ens1f0", { owned: true })`. */
function withFields(name: string, fields: Partial<AfxdpInterfaceStatus>): readonly AfxdpInterfaceStatus[] {
  return afxdpNics.map((nic) => (nic.name === name ? { ...nic, ...fields } : nic));
}

/** "ens1f0 primary apool" for each device of the spec. */
const summary = ({ spec }: ReturnType<typeof merge>) =>
  (spec.interfaces ?? []).map(({ name, mode, poolName }) => `${name} ${mode} ${poolName}`);

const intel = { vendor: "8086" };

describe("mergeAfxdpPolicies", () => {
  it("returns an empty spec without policies", () => {
    expect(merge([])).toEqual({ spec: {}, problems: [], matches: [] });
  });

  it("returns the device and its pool with all settings", () => {
    const policy = afxdpPolicy("a", { mtu: 9000, queues: 8, numSfs: 4, uid: 1500, bpfMapPinning: true });
    expect(merge([policy])).toEqual({
      spec: {
        interfaces: [
          {
            pciAddress: "0000:86:00.0",
            name: "ens1f0",
            mode: "subfunction",
            poolName: "apool",
            policyName: "a",
            mtu: 9000,
            queues: 8,
            numSfs: 4,
          },
        ],
        pools: [
          {
            name: "apool",
            mode: "subfunction",
            udsServer: true,
            bpfMapPinning: true,
            udsTimeout: 0,
            uid: 1500,
            requiresUnprivilegedBpf: false,
            excludeTopology: false,
          },
        ],
      },
      problems: [],
      matches: [{ policyName: "a", devices: ["0000:86:00.0"] }],
    });
  });

  it.each<[string, AfxdpNicSelector, string[]]>([
    ["vendor", { vendor: "8086" }, ["ens1f0", "ens1f1", "enp135s0"]],
    ["device ID", { deviceID: "1521" }, ["enp135s0"]],
    ["driver", { driver: "ice" }, ["ens1f0", "ens1f1"]],
    ["driver, without a PCI address", { driver: "veth" }, ["veth10"]],
    ["PCI address", { rootDevices: ["0000:86:00.1"] }, ["ens1f1"]],
    ["name", { pfNames: ["veth10", "ens1f0"] }, ["ens1f0", "veth10"]],
    ["alternative name", { pfNames: ["storage0"] }, ["enp135s0"]],
    ["MAC address in any case", { macAddresses: ["B4:96:91:AA:BB:01"] }, ["ens1f1"]],
    ["all fields at once", { driver: "ice", pfNames: ["ens1f1", "veth10"] }, ["ens1f1"]],
    ["no empty text", { vendor: "", driver: "ice" }, ["ens1f0", "ens1f1"]],
    ["nothing by a part of a name", { pfNames: ["ens1"] }, []],
  ])("selects by %s", (_, nicSelector, names) => {
    const { spec } = merge([afxdpPolicy("a", { nicSelector })]);
    expect((spec.interfaces ?? []).map(({ name }) => name)).toEqual(names);
  });

  it("identifies a device without PCI address by its name", () => {
    const { spec, matches } = merge([afxdpPolicy("a", { nicSelector: { driver: "veth" } })]);
    expect(spec.interfaces).toEqual([{ name: "veth10", mode: "primary", poolName: "apool", policyName: "a" }]);
    expect(matches).toEqual([{ policyName: "a", devices: ["veth10"] }]);
  });

  it("ignores policies for other nodes", () => {
    expect(merge([afxdpPolicy("a", { nodeSelector: { zone: "b" } })]).matches).toEqual([]);
  });

  it("gives a device to the policy with the lowest number, then with the name that sorts last (b4)", () => {
    const weak = afxdpPolicy("weak", { nicSelector: intel, priority: 50 });
    const strong = afxdpPolicy("strong", { priority: 0, nicSelector: { rootDevices: ["0000:86:00.1"] } });
    const a = afxdpPolicy("a", { priority: 10 });
    const b = afxdpPolicy("b", { priority: 10 });
    const merged = merge([weak, b, strong, a]);
    expect(summary(merged)).toEqual(["ens1f0 primary bpool", "ens1f1 primary strongpool", "enp135s0 primary weakpool"]);
    expect(merged.spec.pools?.map(({ name }) => name)).toEqual(["bpool", "strongpool", "weakpool"]);
    expect(merged.problems).toMatchObject([
      { policyName: "a", code: "device-taken", field: "spec.nicSelector.pfNames[0]", severity: "warning" },
    ]);
  });

  it("takes an absent priority for the lowest", () => {
    const merged = merge([afxdpPolicy("z"), afxdpPolicy("a", { priority: 98 })]);
    expect(summary(merged)).toEqual(["ens1f0 primary apool"]);
  });

  it("limits a policy to maxDevices, by ascending id, and leaves the others to the next policy", () => {
    const one = afxdpPolicy("one", { nicSelector: { driver: "ice" }, maxDevices: 1, priority: 1 });
    const rest = afxdpPolicy("rest", { nicSelector: { driver: "ice" } });
    expect(summary(merge([one, rest]))).toEqual(["ens1f0 primary onepool", "ens1f1 primary restpool"]);
  });

  it("with maxDevices keeps a veth that a pod has, although it is at the end of the report then", () => {
    const veth = (name: string): AfxdpInterfaceStatus => ({ name, mac: "02:00:00:00:00:01", driver: "veth" });
    const policy = afxdpPolicy("v", { nicSelector: { pfNames: ["eth1", "eth2"] }, maxDevices: 1 });
    const first = merge([policy], { nics: [veth("eth1"), veth("eth2")] });
    expect(summary(first)).toEqual(["eth1 primary vpool"]);
    const inPod = [veth("eth2"), { name: "eth1", owned: true }];
    const second = merge([policy], { nics: inPod, stored: first.spec });
    expect(second.spec).toEqual(first.spec);
    // Also if the spec is lost, because the node state was deleted.
    expect(merge([policy], { nics: inPod }).spec).toEqual(first.spec);
  });

  it("with maxDevices keeps the device that it has when the host no longer uses another one", () => {
    const policy = afxdpPolicy("a", { nicSelector: { driver: "ice" }, maxDevices: 1 });
    const used = merge([policy], { nics: withFields("ens1f0", { usedBy: ["default route"] }) });
    expect(summary(used)).toEqual(["ens1f1 primary apool"]);
    expect(summary(merge([policy], { stored: used.spec }))).toEqual(["ens1f1 primary apool"]);
    expect(summary(merge([policy], { nics: withFields("ens1f1", { usedBy: ["bond"] }), stored: used.spec }))).toEqual([
      ...["ens1f0 primary apool"],
    ]);
  });

  it("with maxDevices keeps its devices under another name, and prefers free ones to those of other policies", () => {
    const old = afxdpPolicy("old", { nicSelector: { driver: "ice" }, maxDevices: 1, poolName: "pool" });
    const nics = withFields("ens1f0", { usedBy: ["default route"] });
    const stored = merge([old], { nics }).spec;
    const renamed = afxdpPolicy("new", { nicSelector: { driver: "ice" }, maxDevices: 1, poolName: "pool" });
    expect(summary(merge([renamed], { stored }))).toEqual(["ens1f1 primary pool"]);
    const second = afxdpPolicy("second", { nicSelector: { driver: "ice" }, maxDevices: 1, priority: 1 });
    expect(summary(merge([old, second], { stored }))).toEqual(["ens1f0 primary secondpool", "ens1f1 primary pool"]);
  });

  it("does not count a device that is in use for maxDevices", () => {
    const nics = withFields("ens1f0", { usedBy: ["default route"] });
    const merged = merge([afxdpPolicy("a", { nicSelector: { driver: "ice" }, maxDevices: 1 })], { nics });
    expect(summary(merged)).toEqual(["ens1f1 primary apool"]);
  });
});

describe("a device that is in use", () => {
  const nics = withFields("ens1f0", { usedBy: ["port of bond bond0", "route to the API server 192.0.2.1"] });

  it("is refused with the reason if the policy names it", () => {
    const { spec, problems } = merge([afxdpPolicy("a")], { nics });
    expect(spec).toEqual({});
    expect(problems).toMatchObject([
      { code: "device-in-use", severity: "error", field: "spec.nicSelector.pfNames[0]", value: "0000:86:00.0" },
    ]);
    expect(problems[0]?.message).toBe(
      "ens1f0 (0000:86:00.0) is not offered: the host uses it: port of bond bond0, route to the API server 192.0.2.1",
    );
  });

  it("is left out with a warning if the policy matches it among others", () => {
    const { spec, problems } = merge([afxdpPolicy("a", { nicSelector: intel })], { nics });
    expect(spec.interfaces?.map(({ name }) => name)).toEqual(["ens1f1", "enp135s0"]);
    expect(problems).toMatchObject([{ code: "device-left-out", severity: "warning", field: "spec.nicSelector" }]);
  });

  it("still offers subfunctions that another tool created", () => {
    const policy = afxdpPolicy("a", { numSfs: 2, externallyManaged: true });
    expect(summary(merge([policy], { nics }))).toEqual(["ens1f0 subfunction apool"]);
    expect(summary(merge([afxdpPolicy("a", { numSfs: 2 })], { nics }))).toEqual([]);
  });

  it.each<[string, SriovUseSource, string]>([
    ["a policy", { spec: { interfaces: [{ pciAddress: "0000:86:00.0" }] } }, "SR-IOV policies select it"],
    [
      "a bridge",
      { spec: { bridges: { ovs: [{ name: "br", uplinks: [{ pciAddress: "0000:86:00.0" }] }] } } },
      "SR-IOV policies select it",
    ],
    [
      "VFs that are not removed yet",
      { spec: { unselected: ["0000:86:00.0"] } },
      "it still has the settings of SR-IOV policies",
    ],
    [
      "its PF",
      {
        spec: { interfaces: [{ pciAddress: "0000:81:00.0" }] },
        pfs: toPfAddresses([{ pciAddress: "0000:81:00.0", Vfs: [{ pciAddress: "0000:86:00.0", vfID: 0 }] }]),
      },
      "it is a VF of 0000:81:00.0, which SR-IOV policies use",
    ],
  ])("by SR-IOV through %s is refused", (_, sriov, why) => {
    const { spec, problems } = merge([afxdpPolicy("a")], { sriov });
    expect(spec).toEqual({});
    expect(problems[0]?.message).toContain(why);
  });

  it("is not refused because of a PF that SR-IOV policies used before", () => {
    const sriov = { spec: { interfaces: [] }, pfs: toPfAddresses([{ pciAddress: "0000:86:00.0" }]) };
    expect(summary(merge([afxdpPolicy("a")], { sriov }))).toEqual(["ens1f0 primary apool"]);
  });
});

describe("policies with the same pool", () => {
  const first = afxdpPolicy("first", { poolName: "fast", priority: 1 });
  const other = { nicSelector: { pfNames: ["ens1f1"] } };

  it("share it with the same mode and settings", () => {
    const merged = merge([first, afxdpPolicy("second", { ...other, poolName: "fast" })]);
    expect(summary(merged)).toEqual(["ens1f0 primary fast", "ens1f1 primary fast"]);
    expect(merged.spec.pools).toHaveLength(1);
  });

  it.each([
    { fields: { poolName: "fast", numSfs: 2 }, code: "pool-mode-differs", field: "spec.mode" },
    { fields: { poolName: "fast", uid: 1500 }, code: "pool-setting-differs", field: "spec.uid" },
    { fields: { poolName: "FAST" }, code: "pool-name-collides", field: "spec.poolName" },
  ])("are refused with $code", ({ fields, code, field }) => {
    const merged = merge([first, afxdpPolicy("second", { ...other, ...fields })]);
    expect(summary(merged)).toEqual(["ens1f0 primary fast"]);
    expect(merged.problems).toMatchObject([{ policyName: "second", code, field, severity: "error" }]);
  });
});

it("names the environment variable that two pools would share", () => {
  const policies = [
    afxdpPolicy("first", { poolName: "fast", priority: 1 }),
    afxdpPolicy("second", { poolName: "Fast", nicSelector: { pfNames: ["ens1f1"] } }),
  ];
  expect(merge(policies).problems.map(({ message }) => message)).toEqual([
    "differs only in case from pool fast of the same node: both would have the environment variable AFXDP_DEVICES_FAST, so " +
      "choose another name",
  ]);
});

describe("problems of a policy", () => {
  it.each([
    { fields: { nicSelector: {} }, code: "empty-nic-selector", applied: false },
    { fields: { deviceType: "vfio-pci" }, code: "device-type", applied: false },
    { fields: { numSfs: 65 }, code: "not-supported", applied: true },
    { fields: { mtu: 9703 }, code: "not-supported", applied: true },
    { fields: { queues: 65 }, code: "not-supported", applied: true },
    { fields: { nicSelector: { pfNames: ["storage0"] }, numSfs: 1 }, code: "not-supported", applied: true },
    { fields: { numSfs: 3, externallyManaged: true }, code: undefined, applied: true },
    { fields: { mtu: 9000, externallyManaged: true }, code: "not-provided", applied: true },
    { fields: { nicSelector: { pfNames: ["none"] } }, code: "no-device", applied: false },
  ])("$fields: $code", ({ fields, code, applied }) => {
    const { spec, problems } = merge([afxdpPolicy("a", fields)]);
    expect(problems.map((problem) => problem.code)).toEqual(code === undefined ? [] : [code]);
    expect(spec.interfaces !== undefined).toBe(applied);
  });

  it("say how many subfunctions the device supports", () => {
    const [problem] = merge([afxdpPolicy("a", { numSfs: 65 })]).problems;
    expect(problem).toMatchObject({ field: "spec.numSfs", value: 65 });
    expect(problem?.message).toBe("65 subfunctions requested, but 0000:86:00.0 supports at most 64");
  });

  it("are the same for the others if one policy is invalid", () => {
    const good = afxdpPolicy("good", { nicSelector: { driver: "ice" } });
    const bad = afxdpPolicy("bad", { nicSelector: {}, priority: 0 });
    expect(merge([good, bad]).spec).toEqual(merge([good]).spec);
  });

  it("say that policies of higher priority have all devices", () => {
    const strong = afxdpPolicy("strong", { priority: 0, nicSelector: { driver: "igb" } });
    const { problems } = merge([strong, afxdpPolicy("weak", { nicSelector: { driver: "igb" } })]);
    expect(problems).toMatchObject([{ policyName: "weak", code: "no-device" }]);
    expect(problems[0]?.message).toContain("policies of higher priority have all devices");
  });
});

describe("a device that Switchyard configured", () => {
  const owned = withFields("ens1f0", { owned: true });

  it("is unselected as soon as no policy selects it", () => {
    expect(merge([], { nics: owned }).spec).toEqual({ unselected: ["0000:86:00.0"] });
    expect(merge([afxdpPolicy("a")], { nics: owned }).spec.unselected).toBeUndefined();
  });

  it("is unselected if maxDevices no longer includes it", () => {
    const nics = afxdpNics.map((nic) => (nic.driver === "ice" ? { ...nic, owned: true } : nic));
    const { spec: stored } = merge([afxdpPolicy("a", { nicSelector: { driver: "ice" } })], { nics });
    const policy = afxdpPolicy("a", { nicSelector: { driver: "ice" }, maxDevices: 1 });
    expect(merge([policy], { nics, stored }).spec.unselected).toEqual(["0000:86:00.1"]);
  });

  it("is not unselected while its name is unknown", () => {
    const { name: _, ...nameless } = { ...afxdpNics[0], owned: true };
    const elsewhere = afxdpPolicy("a", { nicSelector: { pfNames: ["ens1f9"] } });
    expect(merge([elsewhere], { nics: [nameless] }).spec).toEqual({});
    expect(merge([elsewhere], { nics: owned }).spec).toEqual({ unselected: ["0000:86:00.0"] });
  });

  it("stays selected by its former name while a pod has it", () => {
    const { name: _, ...nameless } = { ...afxdpNics[0], owned: true, recordedNames: ["ens1f0"] };
    expect(merge([afxdpPolicy("a")], { nics: [nameless] }).spec.interfaces).toMatchObject([
      { pciAddress: "0000:86:00.0", name: "ens1f0" },
    ]);
  });

  it("is not unselected because a policy that matches it is invalid, or because the host uses it", () => {
    expect(merge([afxdpPolicy("a", { deviceType: "vfio-pci" })], { nics: owned }).spec).toEqual({});
    const used = withFields("ens1f0", { owned: true, usedBy: ["default route"] });
    expect(merge([], { nics: used }).spec).toEqual({});
  });

  it("is unselected if SR-IOV policies select it", () => {
    const sriov = { spec: { interfaces: [{ pciAddress: "0000:86:00.0" }] } };
    expect(merge([afxdpPolicy("a")], { nics: owned, sriov }).spec).toEqual({ unselected: ["0000:86:00.0"] });
  });
});

describe("mergeAfxdpPolicies with provider upstream", () => {
  const upstream = (spec: Partial<AfxdpNetworkNodePolicySpec>, nics = afxdpNics) =>
    merge([afxdpPolicy("a", spec)], { nics, provider: "upstream" });
  const problemsOf = (merged: ReturnType<typeof merge>) =>
    merged.problems.map(({ severity, field, message }) => `${severity} ${field}: ${message}`);

  it.each([
    { spec: { numSfs: 4 }, problem: "error spec.mode: must be primary with provider upstream" },
    {
      spec: { bpfMapPinning: true, udsServer: false, uid: 1500 },
      problem: "error spec.bpfMapPinning: must be false with uid 1500 and provider upstream",
    },
  ])("applies no policy with $spec", ({ spec, problem }) => {
    const merged = upstream(spec);
    expect(merged.spec).toEqual({});
    expect(problemsOf(merged)).toEqual([expect.stringContaining(problem)]);
    expect(problemsOf(merged)).toEqual([expect.stringContaining("provider switchyard")]);
    expect(merge([afxdpPolicy("a", spec)]).problems).toEqual([]);
  });

  it("leaves subfunctions of a policy that was applied before as they are", () => {
    expect(upstream({ numSfs: 4 }, withFields("ens1f0", { owned: true })).spec.unselected).toBeUndefined();
  });

  it("applies other policies, and warns about what the plugin leaves out or ignores", () => {
    expect(problemsOf(upstream({}))).toEqual([]);
    expect(problemsOf(upstream({ bpfMapPinning: true }))).toEqual([
      expect.stringContaining("warning spec.udsServer: has no effect with bpfMapPinning and provider upstream"),
    ]);
    const renamed = withFields("ens1f0", { name: "eth1" });
    const merged = upstream({ nicSelector: { driver: "ice" } }, renamed);
    expect(summary(merged)).toEqual(["eth1 primary apool", "ens1f1 primary apool"]);
    expect(problemsOf(merged)).toEqual([
      expect.stringContaining(
        "warning spec.nicSelector: eth1 (0000:86:00.0) is not offered: the device plugin of provider upstream leaves out",
      ),
    ]);
    expect(
      problemsOf(upstream({ nicSelector: { pfNames: ["veth10"] } }, withFields("veth10", { linkAdminState: "up" }))),
    ).toEqual([expect.stringContaining("warning spec.nicSelector.pfNames[0]: veth10 is not offered")]);
  });
});

describe("subfunctions whose representors are ports of no bridge", () => {
  const withMasters = (...masters: readonly (string | undefined)[]) => {
    const subfunctions = masters.map((master, sfNumber) => {
      const representor = { name: `rep${sfNumber}`, ...(master !== undefined && { master }) };
      return { sfNumber, owned: true, representor };
    });
    const nic = { pciAddress: "0000:86:00.0", name: "ens1f0", vendor: "8086", subfunctions };
    const { problems } = merge([afxdpPolicy("a", { nicSelector: intel, numSfs: 2 })], { nics: [nic] });
    return problems.map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
  };

  it("are named in a warning", () => {
    expect(withMasters("br0", "br0")).toEqual([]);
    expect(withMasters("br0", undefined)).toEqual([
      expect.stringMatching(
        /^warning representor-without-bridge: the representor rep1 is a port of no bridge on 0000:86:00\.0: /,
      ),
    ]);
    expect(withMasters(undefined, undefined)).toEqual([
      expect.stringContaining("2 representors, rep0 first, are ports of no bridge"),
    ]);
  });
});
