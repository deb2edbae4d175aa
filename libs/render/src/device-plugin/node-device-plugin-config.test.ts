// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import { formatDevicePluginConfig } from "./device-plugin-config.ts";
import { nodeDevicePluginConfig } from "./node-device-plugin-config.ts";

/** Returns the state of a node with `count` VFs on each PF; VF 3 of PF 0 is "0000:00:00.3". */
function stateOf(groups: readonly (readonly VfGroup[])[], count = 8): SriovNetworkNodeState {
  const pfs = groups.map((vfGroups, pf) => ({ pciAddress: `0000:0${pf}:1f.0`, vfGroups }));
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: { interfaces: pfs },
    status: {
      interfaces: pfs.map(({ pciAddress }, pf) => {
        // In the order of upstream's daemon, by name: 0, 1, 10, 11, 2.
        const ids = Array.from({ length: count }, (_, id) => id).sort();
        return { pciAddress, Vfs: ids.map((vfID) => ({ pciAddress: `0000:0${pf}:00.${vfID}`, vfID })) };
      }),
    },
  };
}

function render(state: SriovNetworkNodeState) {
  const { config, problems } = nodeDevicePluginConfig(state);
  return { text: formatDevicePluginConfig(config), codes: problems.map(({ code }) => code) };
}

const flags = '"IsRdma":false,"NeedVhostNet":false';

describe("nodeDevicePluginConfig", () => {
  it("selects the VFs of each resource on all PFs", () => {
    const a = { resourceName: "a", vfRange: "0-1" };
    const b = { resourceName: "b", vfRange: "2-2", isRdma: true, needVhostNet: true, excludeTopology: true };
    expect(render(stateOf([[b, a], [a]]))).toEqual({
      text:
        '{"resourceList":[{"resourceName":"b","excludeTopology":true,"selectors":{"pciAddresses":["0000:00:00.2"],' +
        '"IsRdma":true,"NeedVhostNet":true}},{"resourceName":"a","selectors":{"pciAddresses":["0000:00:00.0",' +
        `"0000:00:00.1","0000:01:00.0","0000:01:00.1"],${flags}}}]}`,
      codes: [],
    });
  });

  it("omits isRdma for vDPA devices, because the plugin would exit", () => {
    const group = { resourceName: "a", vfRange: "0-0", vdpaType: "vhost", isRdma: true } as const;
    expect(render(stateOf([[group]]))).toEqual({
      text: `{"resourceList":[{"resourceName":"a","selectors":{"pciAddresses":["0000:00:00.0"],${flags},"vdpaType":"vhost"}}]}`,
      codes: ["rdma-with-vdpa"],
    });
  });

  it("omits resources without VFs, because a selector without addresses selects all devices", () => {
    const groups = [{ resourceName: "a", vfRange: "8-9" }, { vfRange: "0-1" }, { resourceName: "", vfRange: "0-1" }];
    expect(render(stateOf([groups]))).toEqual({ text: '{"resourceList":[]}', codes: [] });
    const { status, ...fresh } = stateOf([[{ resourceName: "a", vfRange: "0-1" }]]);
    expect(render(fresh)).toEqual({ text: '{"resourceList":[]}', codes: [] });
    expect(render({ ...fresh, spec: {}, ...(status && { status }) }).text).toBe('{"resourceList":[]}');
  });

  it("omits invalid ranges, and names with which the plugin would exit", () => {
    const groups = [
      { resourceName: "a", vfRange: "eno1#0-9" },
      { resourceName: "a", vfRange: "3-3" },
      { resourceName: "b/c", vfRange: "0-1" },
    ];
    expect(render(stateOf([groups]))).toEqual({
      text: `{"resourceList":[{"resourceName":"a","selectors":{"pciAddresses":["0000:00:00.3"],${flags}}}]}`,
      codes: ["bad-vf-range", "bad-name"],
    });
  });

  it("uses the settings of the first group of a PF for a resource, and reports other settings (sriov-operator.md M-43)", () => {
    const groups = [
      { resourceName: "a", vfRange: "0-0", policyName: "p" },
      { resourceName: "a", vfRange: "1-1", policyName: "q", isRdma: true },
      { resourceName: "a", vfRange: "9-9", policyName: "r", needVhostNet: true },
    ];
    const { config, problems } = nodeDevicePluginConfig(stateOf([groups]));
    expect(config.resourceList?.map(({ selectors }) => selectors.IsRdma)).toEqual([false]);
    expect(problems).toEqual([
      {
        code: "mixed-settings",
        resourceName: "a",
        message:
          "deviceType, isRdma, needVhostNet, vdpaType or excludeTopology differ between its VFs (policies p, q): " +
          "the settings of policy p apply to all, and each VF keeps its driver",
      },
    ]);
  });

  it("uses the settings of the policy with the highest priority, whose PF is the last one in the spec", () => {
    const weak = { resourceName: "a", vfRange: "0-0", policyName: "weak", isRdma: true };
    const strong = { resourceName: "a", vfRange: "0-0", policyName: "strong" };
    const { config, problems } = nodeDevicePluginConfig(stateOf([[weak], [strong]]));
    expect(config.resourceList?.map(({ selectors }) => selectors.IsRdma)).toEqual([false]);
    expect(problems.map(({ message }) => message).join()).toContain("the settings of policy strong apply to all");
  });

  it("reports VFs with different drivers in one resource", () => {
    const kernel = { resourceName: "a", vfRange: "0-0", policyName: "p", deviceType: "netdevice" } as const;
    const user = { resourceName: "a", vfRange: "1-1", policyName: "q", deviceType: "vfio-pci" } as const;
    expect(nodeDevicePluginConfig(stateOf([[kernel, user]])).problems.map(({ code }) => code)).toEqual([
      "mixed-settings",
    ]);
    const byDefault = { ...kernel, deviceType: undefined };
    const { deviceType: _, ...implicit } = byDefault;
    expect(nodeDevicePluginConfig(stateOf([[kernel, { ...implicit, vfRange: "1-1" }]])).problems).toEqual([]);
  });

  it("selects each VF of a valid group once and no other VF, and is always valid for the plugin", () => {
    const resourceName = fc.oneof(fc.constantFrom("a", "b", "rdma_a-1"), fc.string({ unit: "binary" }));
    const range = fc.tuple(fc.nat(9), fc.nat(9)).map(([first, last]) => `${first}-${last}`);
    const group = fc.record({ resourceName, vfRange: fc.oneof(range, fc.string()), isRdma: fc.boolean() });
    const exact = fc.property(fc.array(fc.array(group, { maxLength: 3 }), { maxLength: 3 }), (groups) => {
      const wanted = groups.flatMap((ofPf, pf) =>
        ofPf.flatMap(({ resourceName: name, vfRange }) => {
          const [, first, last] = /^(\d)-(\d)$/.exec(vfRange) ?? [];
          return Array.from({ length: 8 }, (_, id) => id)
            .filter((id) => /^[\w-]+$/.test(name) && Number(first) <= id && id <= Number(last))
            .map((id) => `${name} 0000:0${pf}:00.${id}`);
        }),
      );
      const { config } = nodeDevicePluginConfig(stateOf(groups));
      const read: unknown = JSON.parse(formatDevicePluginConfig(config));
      expect(read).toEqual(config);
      const resources = config.resourceList ?? [];
      expect(new Set(resources.map((one) => one.resourceName)).size).toBe(resources.length);
      const found = resources.flatMap((one) =>
        (one.selectors.pciAddresses ?? []).map((address) => `${one.resourceName} ${address}`),
      );
      expect(found.sort()).toEqual([...new Set(wanted)].sort());
      for (const { selectors } of resources) expect(selectors.pciAddresses).not.toEqual([]);
    });
    fc.assert(exact);
  });
});
