// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { advertise, vfsInResources } from "./advertise.ts";
import type { KernelVfs } from "./plugin-config.ts";
import { kernelOf, nodeState, pf } from "./testing/node-state.ts";

/** Returns the resources with the last digits of the addresses of their VFs, and the pending VFs. */
function advertised(state: SriovNetworkNodeState, { kernel = kernelOf(state), block = true, isThisBoot = true } = {}) {
  const { rendered, pending } = advertise(state, { kernel, block, isThisBoot });
  const resources = (rendered.config.resourceList ?? []).map(({ resourceName, selectors }) => {
    return [resourceName, (selectors.pciAddresses ?? []).map((address) => address.slice(-6)).join(" ")] as const;
  });
  return {
    resources: Object.fromEntries(resources),
    pending: pending.map(({ resourceName, count, cause }) => `${resourceName} ${count} ${cause}`),
  };
}

const all = "1:10.0 1:10.1 1:10.2 1:10.3";

describe("advertise", () => {
  it("advertises VFs that match the spec", () => {
    expect(advertised(nodeState([pf()]))).toEqual({ resources: { fast: all }, pending: [] });
  });

  it("withdraws all VFs of a PF whose number of VFs changes, and keeps those of other PFs", () => {
    const second = { ...pf({ slot: 2, spec: { vfGroups: [{ resourceName: "slow", vfRange: "0-0" }] } }) };
    const state = nodeState([pf({ spec: { numVfs: 6 }, vfs: 4 }), second]);
    expect(advertised(state)).toEqual({ resources: { slow: "2:10.0" }, pending: ["fast 4 changing"] });
  });

  it("withdraws VFs that get another driver", () => {
    const vfGroups = [
      { resourceName: "dpdk", vfRange: "2-3", deviceType: "vfio-pci" as const },
      { resourceName: "fast", vfRange: "0-1" },
    ];
    expect(advertised(nodeState([pf({ spec: { vfGroups } })]))).toEqual({
      resources: { fast: "1:10.0 1:10.1" },
      pending: ["dpdk 2 changing"],
    });
  });

  it("keeps VFs whose link is interrupted, because a restart of the plugin would disrupt more pods", () => {
    expect(advertised(nodeState([pf({ spec: { mtu: 9000 } })])).resources).toEqual({ fast: all });
  });

  it.each([true, false])("withdraws VFs whose pods must leave for a change (feature gate: %s)", (block) => {
    const given = nodeState([pf({ spec: { mtu: 9000 } })]);
    const notes = (vfs: string) => ({ ...given.metadata, annotations: { "switchyard.io/drain-vfs": vfs } });
    const at = (vfs: string) => advertised({ ...given, metadata: notes(vfs) }, { block });
    expect(at("0000:01:00.0")).toEqual({ resources: {}, pending: ["fast 4 draining"] });
    expect(at("0000:01:00.0#1-2")).toEqual({ resources: { fast: "1:10.0 1:10.3" }, pending: ["fast 2 draining"] });
    expect(at("0000:02:00.0")).toEqual({ resources: { fast: all }, pending: [] });
    expect(at("not readable")).toEqual({ resources: { fast: all }, pending: [] });
  });

  it("keeps VFs that a pod returned with another MTU, which the daemon corrects", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-3", mtu: 1500 }];
    expect(advertised(nodeState([pf({ spec: { vfGroups }, vf: { mtu: 9000 } })])).resources).toEqual({ fast: all });
  });

  it("keeps the configured VFs of a PF that failed", () => {
    const failed = nodeState([pf({ spec: { mtu: 9000 } })], { syncStatus: "Failed" });
    expect(advertised(failed).resources).toEqual({ fast: all });
  });

  it("keeps back the VFs of a PF with an Open vSwitch bridge while ovs-vswitchd does not run", () => {
    const bridge = { name: "br-0000_01_00.0", uplinks: [{ pciAddress: "0000:01:00.0" }] };
    const second = pf({ slot: 2, spec: { vfGroups: [{ resourceName: "slow", vfRange: "0-0" }] } });
    const openVSwitch = { switchError: "ovs-vswitchd does not run" };
    const given = nodeState([pf(), second], { openVSwitch, bridges: { ovs: [bridge] } });
    const wanted = { ...given, spec: { ...given.spec, bridges: { ovs: [bridge] } } };
    expect(advertised(wanted)).toEqual({ resources: { slow: "2:10.0" }, pending: ["fast 4 bridge-down"] });
    const runs = { ...wanted, status: { ...wanted.status, openVSwitch: {} } };
    expect(advertised(runs)).toEqual({ resources: { fast: all, slow: "2:10.0" }, pending: [] });
  });

  it.each([true, false])("keeps back the VFs of a PF until its bridge exists (feature gate: %s)", (block) => {
    const uplinks = [{ pciAddress: "0000:01:00.0" }];
    const second = pf({ slot: 2, spec: { vfGroups: [{ resourceName: "slow", vfRange: "0-0" }] } });
    const given = nodeState([pf(), second], { openVSwitch: {}, bridges: {} });
    const wanted = { ...given, spec: { ...given.spec, bridges: { linux: [{ name: "br-0000_01_00.0", uplinks }] } } };
    const before = advertised(wanted, { block });
    expect(before).toEqual({ resources: { slow: "2:10.0" }, pending: ["fast 4 no-bridge"] });
    const bridges = { linux: [{ name: "br-0000_01_00.0", linkAdminState: "up", uplinks }] };
    expect(advertised({ ...wanted, status: { ...given.status, bridges } }, { block }).resources).toHaveProperty(
      "fast",
      all,
    );
  });

  it.each([true, false])("keeps back a VF that has no network interface (feature gate: %s)", (block) => {
    const port = pf();
    const Vfs = (port.status.Vfs ?? []).map(({ name = "", ...vf }) =>
      vf.vfID === 3 ? { ...vf, missingInterface: "permanent" } : { ...vf, name },
    );
    expect(advertised(nodeState([{ ...port, status: { ...port.status, Vfs } }]), { block })).toEqual({
      resources: { fast: "1:10.0 1:10.1 1:10.2" },
      pending: ["fast 1 no-interface"],
    });
  });

  it.each([true, false])("keeps back a VF that a past pod has left with its settings (feature gate: %s)", (block) => {
    const port = pf();
    const settings = [{ name: "Vlan", value: "100", initial: "0" }];
    const Vfs = (port.status.Vfs ?? []).map((vf) => (vf.vfID === 3 ? { ...vf, unclean: { settings } } : vf));
    expect(advertised(nodeState([{ ...port, status: { ...port.status, Vfs } }]), { block })).toEqual({
      resources: { fast: "1:10.0 1:10.1 1:10.2" },
      pending: ["fast 1 unclean"],
    });
  });

  it("reports missing VFs, for example if the spec has more VFs than the port supports", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-5" }];
    expect(advertised(nodeState([pf({ spec: { vfGroups } })]))).toEqual({
      resources: { fast: all },
      pending: ["fast 2 missing"],
    });
  });

  it("reports VFs as stale that do not exist or have another driver than in the status", () => {
    const state = nodeState([pf()]);
    expect(advertised(state, { kernel: new Map() })).toEqual({ resources: {}, pending: ["fast 4 stale"] });
    const kernel = kernelOf(state, { "0000:01:10.2": { driver: "vfio-pci", incarnation: "1.2" } });
    expect(advertised(state, { kernel })).toEqual({
      resources: { fast: "1:10.0 1:10.1 1:10.3" },
      pending: ["fast 1 stale"],
    });
  });

  it("advertises no VF after a reboot until the daemon has configured the node", () => {
    expect(advertised(nodeState([pf()]), { isThisBoot: false })).toEqual({
      resources: {},
      pending: ["fast 4 not-configured"],
    });
  });

  it("advertises all VFs of the status without the feature gate", () => {
    const state = nodeState([pf({ spec: { numVfs: 6 }, vfs: 4 })]);
    const kernel: KernelVfs = new Map();
    expect(advertised(state, { kernel, block: false, isThisBoot: true })).toEqual({
      resources: { fast: all },
      pending: [],
    });
    // VFs of another boot are not advertised even without the feature gate.
    const otherBoot = advertised(state, { kernel, block: false, isThisBoot: false });
    expect(otherBoot).toEqual({ resources: {}, pending: ["fast 4 not-configured"] });
  });

  it("ignores groups without a resource", () => {
    const vfGroups = [{ vfRange: "0-7" }, { resourceName: "fast", vfRange: "eno1#0-9" }];
    expect(advertised(nodeState([pf({ spec: { vfGroups } })]))).toEqual({ resources: {}, pending: [] });
  });
});

describe("vfsInResources", () => {
  it("returns each VF of a group once", () => {
    const vfGroups = [
      { resourceName: "a", vfRange: "0-1" },
      { resourceName: "b", vfRange: "1-1" },
    ];
    expect(vfsInResources(nodeState([pf({ spec: { vfGroups } })]))).toEqual(["0000:01:10.0", "0000:01:10.1"]);
  });
});
