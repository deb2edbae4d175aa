// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { plan } from "./plan.ts";
import { pfSpecDigest } from "./rolled-back.ts";

const pciAddress = "0000:3b:00.0";
const desired: SriovNetworkNodeStateSpec = {
  interfaces: [{ pciAddress, numVfs: 2, mtu: 9000, vfGroups: [{ resourceName: "r", vfRange: "0-1" }] }],
};
const pf: InterfaceStatus = {
  pciAddress,
  driver: "ice",
  name: "ens1f0",
  mtu: 1500,
  totalvfs: 8,
  numVfs: 0,
  linkAdminState: "up",
};
const change = `set mtu 1500 -> 9000 on ${pciAddress}`;

const undone = (of: SriovNetworkNodeStateSpec): InterfaceStatus => ({
  ...pf,
  rolledBack: {
    changes: [change],
    probe: "TCP connection to the API server 192.0.2.1, port 6443",
    undone: [`set mtu 9000 -> 1500 on ${pciAddress}`],
    reachable: true,
    specDigest: pfSpecDigest(of, pciAddress),
    reason: "ApiServerUnreachable",
    time: "2026-11-28T12:00:00.000Z",
  },
});

describe("a change that the node has undone", () => {
  it("is not planned again for the same spec, whatever else the PF needs", () => {
    const { steps, impact, problems } = plan(desired, { interfaces: [undone(desired)] }, new Map());
    expect([steps, impact]).toEqual([[], "none"]);
    expect(problems).toEqual([
      {
        code: "rolled-back",
        field: "spec.interfaces[0]",
        pciAddress,
        message: expect.stringContaining(`the node lost its network by this change: ${change}; TCP connection to`),
      },
    ]);
  });

  it("is planned again for another spec of the PF, and does not depend on other PFs or on the order of keys", () => {
    const other = { interfaces: [{ pciAddress, numVfs: 4, mtu: 9000 }] };
    expect(plan(other, { interfaces: [undone(desired)] }, new Map()).steps.length).toBeGreaterThan(0);
    const [spec] = desired.interfaces ?? [];
    const reordered = Object.fromEntries(Object.entries(spec ?? {}).reverse());
    const same = {
      interfaces: [
        { pciAddress: "0000:5e:00.0", numVfs: 1 },
        { pciAddress, ...reordered },
      ],
    };
    expect(pfSpecDigest(same, pciAddress)).toBe(pfSpecDigest(desired, pciAddress));
    expect(pfSpecDigest({ unselected: [pciAddress] }, pciAddress)).not.toBe(pfSpecDigest({}, pciAddress));
  });
});
