// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";
import { holdersIn, readHolders } from "./held-vfs.ts";

const pciAddress = "0000:3b:00.0";

/** A PF of which `app` has the VFs, and nobody has VF 0. */
function statusWith(...vfIDs: readonly number[]): SriovNetworkNodeStateStatus {
  const holder = {
    namespace: "default",
    name: "app",
    resource: "openshift.io/fast",
    via: "device-plugin",
    since: "",
  } as const;
  const held = vfIDs.map((vfID) => ({ vfID, pciAddress: `0000:3b:02.${vfID % 8}`, holder }));
  const free = { vfID: 0, pciAddress: "0000:3b:0a.0" };
  return { holders: { known: true }, interfaces: [{ pciAddress, Vfs: [free, ...held] }] };
}

describe("readHolders", () => {
  it("tells the pods of VFs by ranges, a pod once for each VF", () => {
    const holders = readHolders(statusWith(2, 3, 7)) ?? new Map<string, readonly number[]>();
    expect(holdersIn(holders, pciAddress, undefined)).toEqual([1, 1, 1]);
    expect(holdersIn(holders, pciAddress, [{ first: 0, last: 2 }])).toEqual([1]);
    expect(holdersIn(holders, "0000:5e:00.0", undefined)).toEqual([]);
  });

  it.each([-1, 65_536, 4_294_967_294])("knows nothing by a node state with the VF %d, which no card has", (vfID) => {
    expect(readHolders(statusWith(2, vfID))).toBeUndefined();
  });

  it("knows nothing while the daemon does not report all holders", () => {
    expect(readHolders({ ...statusWith(2), holders: { known: false } })).toBeUndefined();
  });
});
