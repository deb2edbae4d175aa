// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, SriovNetworkNodePolicySpec, VfGroup } from "@switchyard/api";
import { policy } from "../testing/objects.ts";
import { mergePf } from "./vf-groups.ts";
import { parseVfRange } from "./vf-range.ts";

const nic: InterfaceStatus = { pciAddress: "0000:86:00.1", name: "ens803f1", vendor: "8086", deviceID: "158b" };

/** Applies policy p1 to `older`. */
function merge(
  older: InterfaceSpec | undefined,
  { vfs, equal, ...spec }: { vfs: string; equal: boolean } & Partial<SriovNetworkNodePolicySpec>,
): InterfaceSpec {
  const range = parseVfRange(vfs);
  if (!range.ok) throw new Error(`not a VF range: ${vfs}`);
  return mergePf(older, { policy: policy("p1", spec), nic, vfs: range.value }, equal);
}

const pf = (fields: Omit<InterfaceSpec, "pciAddress" | "name">) => ({
  pciAddress: nic.pciAddress,
  name: "ens803f1",
  ...fields,
});
const group = (policyName: string, resourceName: string, vfRange: string, more: Partial<VfGroup> = {}): VfGroup => {
  return { resourceName, deviceType: "vfio-pci", vfRange, policyName, ...more };
};
const p1 = group("p1", "p1res", "0-1", { deviceType: "netdevice" });
const virtio = { deviceType: "netdevice", vdpaType: "virtio" } as const;
const vhost = { deviceType: "netdevice", vdpaType: "vhost" } as const;

describe("mergePf", () => {
  it.each<{
    does: string;
    older: InterfaceSpec | undefined;
    request: { vfs: string; equal: boolean } & Partial<SriovNetworkNodePolicySpec>;
    result: InterfaceSpec;
  }>([
    {
      does: "creates the first group (sriov-operator.md B.10 #1)",
      older: undefined,
      request: { vfs: "0-1", equal: false },
      result: pf({ numVfs: 2, vfGroups: [p1] }),
    },
    {
      does: "lowers numVfs if a policy of higher priority takes all VFs (sriov-operator.md B.10 #3)",
      older: pf({ numVfs: 3, vfGroups: [group("p2", "vfiores", "0-1")] }),
      request: { vfs: "0-1", equal: false },
      result: pf({ numVfs: 2, vfGroups: [p1] }),
    },
    {
      does: "keeps the larger numVfs and MTU if the priorities are equal (sriov-operator.md B.10 #4)",
      older: pf({ numVfs: 3, mtu: 2000, vfGroups: [group("p2", "vfiores", "0-1")] }),
      request: { vfs: "0-1", equal: true },
      result: pf({ numVfs: 3, mtu: 2000, vfGroups: [p1] }),
    },
    {
      does: "partitions the VFs if the priorities are equal (sriov-operator.md B.10 #5)",
      older: pf({ numVfs: 5, vfGroups: [group("p2", "vfiores", "2-4")] }),
      request: { vfs: "0-1", equal: true },
      result: pf({ numVfs: 5, vfGroups: [p1, group("p2", "vfiores", "2-4")] }),
    },
    {
      does: "partitions the VFs by vDPA type (sriov-operator.md B.10 #6)",
      older: pf({ numVfs: 4, vfGroups: [group("p2", "vhostvdpa", "0-1", vhost)] }),
      request: { vfs: "2-3", equal: true, numVfs: 4, resourceName: "virtiovdpa", vdpaType: "virtio" },
      result: pf({
        numVfs: 4,
        vfGroups: [group("p1", "virtiovdpa", "2-3", virtio), group("p2", "vhostvdpa", "0-1", vhost)],
      }),
    },
    {
      does: "drops every older group that it overlaps (sriov-operator.md B.10 #7)",
      older: pf({ numVfs: 2, vfGroups: [group("p2", "vfiores1", "0-0"), group("p3", "vfiores2", "1-1")] }),
      request: { vfs: "0-1", equal: true },
      result: pf({ numVfs: 2, vfGroups: [p1] }),
    },
    {
      does: "drops the older group of the same resource even if they do not overlap (sriov-operator.md B.10 #8)",
      older: pf({ numVfs: 4, vfGroups: [group("p2", "p1res", "2-3")] }),
      request: { vfs: "0-1", equal: true },
      result: pf({ numVfs: 4, vfGroups: [p1] }),
    },
    {
      does: "partitions the VFs if the priorities differ (sriov-operator.md B.10 #9)",
      older: pf({ numVfs: 4, vfGroups: [group("p2", "p2res", "2-3")] }),
      request: { vfs: "0-1", equal: false },
      result: pf({ numVfs: 4, vfGroups: [p1, group("p2", "p2res", "2-3")] }),
    },
    {
      does: "keeps an older group whose range cannot be parsed",
      older: pf({ numVfs: 4, vfGroups: [group("p2", "p2res", "ens803f1#0-1")] }),
      request: { vfs: "0-1", equal: false },
      result: pf({ numVfs: 4, vfGroups: [p1, group("p2", "p2res", "ens803f1#0-1")] }),
    },
    {
      does: "uses the link settings of the newer policy even if they are absent",
      older: pf({
        numVfs: 4,
        linkType: "ib",
        eSwitchMode: "switchdev",
        externallyManaged: true,
        vfGroups: [group("p2", "p2res", "2-3")],
      }),
      request: { vfs: "0-1", equal: true, linkType: "eth" },
      result: pf({ numVfs: 4, linkType: "eth", vfGroups: [p1, group("p2", "p2res", "2-3")] }),
    },
  ])("$does", ({ older, request, result }) => {
    expect(merge(older, request)).toEqual(result);
  });

  it("copies all fields of a policy", () => {
    const spec = merge(undefined, {
      vfs: "1-3",
      equal: false,
      numVfs: 4,
      mtu: 9000,
      linkType: "ETH",
      eSwitchMode: "switchdev",
      externallyManaged: true,
      isRdma: true,
      vdpaType: "vhost",
      needVhostNet: true,
      excludeTopology: true,
    });
    expect(spec).toEqual({
      pciAddress: "0000:86:00.1",
      numVfs: 4,
      mtu: 9000,
      name: "ens803f1",
      linkType: "ETH",
      eSwitchMode: "switchdev",
      externallyManaged: true,
      vfGroups: [
        {
          resourceName: "p1res",
          deviceType: "netdevice",
          vfRange: "1-3",
          policyName: "p1",
          mtu: 9000,
          isRdma: true,
          vdpaType: "vhost",
          needVhostNet: true,
          excludeTopology: true,
        },
      ],
    });
  });

  it("omits fields that are false, 0 or empty", () => {
    const zeros = { isRdma: false, needVhostNet: false, excludeTopology: false, externallyManaged: false, mtu: 0 };
    const spec = merge(undefined, { vfs: "0-1", equal: false, ...zeros });
    expect(JSON.stringify(spec)).toBe(
      '{"pciAddress":"0000:86:00.1","numVfs":2,"name":"ens803f1",' +
        '"vfGroups":[{"resourceName":"p1res","deviceType":"netdevice","vfRange":"0-1","policyName":"p1"}]}',
    );
  });
});
