// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, VfGroup, VfHolder } from "@switchyard/api";
import { describeMove, movedVfs } from "./moved-vfs.ts";

const pf = "0000:3b:00.0";

function holder(resource: string, via: VfHolder["via"] = "device-plugin"): VfHolder {
  return { namespace: "apps", name: "web", via, resource, since: "2026-11-28T10:00:00Z" };
}

/** A PF whose VFs pods have as devices of these resources; undefined for free VFs. */
function observed(...holders: readonly (VfHolder | undefined)[]): { readonly interfaces: readonly InterfaceStatus[] } {
  const Vfs = holders.map((one, vfID) => ({ vfID, pciAddress: `0000:3b:02.${vfID}`, ...(one && { holder: one }) }));
  return { interfaces: [{ pciAddress: pf, numVfs: Vfs.length, Vfs }] };
}

const desired = (...vfGroups: readonly VfGroup[]) => ({ interfaces: [{ pciAddress: pf, vfGroups }] });
const lab = holder("openshift.io/lab");

describe("VFs that move to another resource when their pods end", () => {
  it("are those that pods have under the former name", () => {
    const moves = movedVfs(desired({ resourceName: "lab2", vfRange: "0-3" }), observed(lab, undefined, lab, undefined));
    expect(moves).toEqual([{ pciAddress: pf, from: "lab", to: "lab2", vfs: [0, 2] }]);
    expect(moves.map(describeMove)).toEqual([`2 VFs of ${pf} move from lab to lab2 when their pods end`]);
  });

  it("are named by their resources if a PF is split", () => {
    const split = desired({ resourceName: "lab", vfRange: "0-0" }, { resourceName: "fast", vfRange: "1-2" });
    const moves = movedVfs(split, observed(lab, lab, holder("openshift.io/fast")));
    expect(moves.map(describeMove)).toEqual([`1 VF of ${pf} moves from lab to fast when its pod ends`]);
  });

  it("are not those whose pods leave for another change, or have them by a claim", () => {
    const renamed = desired({ resourceName: "lab2", vfRange: "0-3" });
    expect(movedVfs(renamed, observed(lab), new Map([[pf, "all"]]))).toEqual([]);
    expect(movedVfs(renamed, observed(holder("sriovnetwork.k8snetworkplumbingwg.io", "dra")))).toEqual([]);
  });

  it.each(["", "x", "0-"])("are none for the range %j", (vfRange) => {
    expect(movedVfs(desired({ resourceName: "lab2", vfRange }), observed(lab))).toEqual([]);
  });
});
