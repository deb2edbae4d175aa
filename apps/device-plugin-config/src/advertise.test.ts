// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { handOut, namedVfs } from "./advertise.ts";
import type { KernelVfs } from "./kernel-vfs.ts";
import { kernelOf, nodeState, pf } from "./testing/node-state.ts";

/** Resources with the last digits of their VFs' addresses, and what is kept back. */
function look(state: SriovNetworkNodeState, { kernel = kernelOf(state), block = true, isThisBoot = true } = {}) {
  const { rendered, pending } = handOut(state, { kernel, block, isThisBoot });
  const resources = (rendered.config.resourceList ?? []).map(({ resourceName, selectors }) => {
    return [resourceName, (selectors.pciAddresses ?? []).map((address) => address.slice(-6)).join(" ")] as const;
  });
  return {
    resources: Object.fromEntries(resources),
    pending: pending.map(({ resourceName, count, why }) => `${resourceName} ${count} ${why}`),
  };
}

const all = "1:10.0 1:10.1 1:10.2 1:10.3";

describe("handOut", () => {
  it("hands out what is as the spec asks", () => {
    expect(look(nodeState([pf()]))).toEqual({ resources: { fast: all }, pending: [] });
  });

  it("withdraws all VFs of a PF whose number of VFs changes, and no other PF's", () => {
    const second = { ...pf({ slot: 2, spec: { vfGroups: [{ resourceName: "slow", vfRange: "0-0" }] } }) };
    const state = nodeState([pf({ spec: { numVfs: 6 }, vfs: 4 }), second]);
    expect(look(state)).toEqual({ resources: { slow: "2:10.0" }, pending: ["fast 4 remade"] });
  });

  it("withdraws VFs that get another driver", () => {
    const vfGroups = [
      { resourceName: "dpdk", vfRange: "2-3", deviceType: "vfio-pci" as const },
      { resourceName: "fast", vfRange: "0-1" },
    ];
    expect(look(nodeState([pf({ spec: { vfGroups } })]))).toEqual({
      resources: { fast: "1:10.0 1:10.1" },
      pending: ["dpdk 2 remade"],
    });
  });

  it("keeps VFs whose link is only interrupted: to start the plugin anew would disturb more", () => {
    expect(look(nodeState([pf({ spec: { mtu: 9000 } })])).resources).toEqual({ fast: all });
  });

  it("keeps VFs that a pod gave back with another MTU, which the daemon sets right", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-3", mtu: 1500 }];
    expect(look(nodeState([pf({ spec: { vfGroups }, vf: { mtu: 9000 } })])).resources).toEqual({ fast: all });
  });

  it("does not let a PF that failed keep back its VFs that are in order", () => {
    const failed = nodeState([pf({ spec: { mtu: 9000 } })], { syncStatus: "Failed" });
    expect(look(failed).resources).toEqual({ fast: all });
  });

  it("tells what is missing, as with more VFs than the port can have", () => {
    const vfGroups = [{ resourceName: "fast", vfRange: "0-5" }];
    expect(look(nodeState([pf({ spec: { vfGroups } })]))).toEqual({
      resources: { fast: all },
      pending: ["fast 2 missing"],
    });
  });

  it("trusts no status from before a reboot: VFs that are gone, or bound otherwise, are stale", () => {
    const state = nodeState([pf()]);
    expect(look(state, { kernel: new Map() })).toEqual({ resources: {}, pending: ["fast 4 stale"] });
    const kernel = kernelOf(state, { "0000:01:10.2": { driver: "vfio-pci", incarnation: "1.2" } });
    expect(look(state, { kernel })).toEqual({ resources: { fast: "1:10.0 1:10.1 1:10.3" }, pending: ["fast 1 stale"] });
  });

  it("trusts no VF that outlived a reboot before the daemon has seen to it", () => {
    expect(look(nodeState([pf()]), { isThisBoot: false })).toEqual({ resources: {}, pending: ["fast 4 unseen"] });
  });

  it("hands out all that the status has with the gate off", () => {
    const state = nodeState([pf({ spec: { numVfs: 6 }, vfs: 4 })]);
    const kernel: KernelVfs = new Map();
    expect(look(state, { kernel, block: false, isThisBoot: true })).toEqual({ resources: { fast: all }, pending: [] });
    // Of another boot there is nothing to hand out, gate or not.
    const unseen = look(state, { kernel, block: false, isThisBoot: false });
    expect(unseen).toEqual({ resources: {}, pending: ["fast 4 unseen"] });
  });

  it("does not speak of groups without a resource", () => {
    const vfGroups = [{ vfRange: "0-7" }, { resourceName: "fast", vfRange: "eno1#0-9" }];
    expect(look(nodeState([pf({ spec: { vfGroups } })]))).toEqual({ resources: {}, pending: [] });
  });
});

describe("namedVfs", () => {
  it("names VFs of groups only, each once", () => {
    const vfGroups = [
      { resourceName: "a", vfRange: "0-1" },
      { resourceName: "b", vfRange: "1-1" },
    ];
    expect(namedVfs(nodeState([pf({ spec: { vfGroups } })]))).toEqual(["0000:01:10.0", "0000:01:10.1"]);
  });
});
