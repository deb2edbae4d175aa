// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { VfStatus } from "@switchyard/api";
import { holderOf } from "./vf-holder.ts";

const known = { known: true };
const web = {
  namespace: "apps",
  name: "web-0",
  via: "device-plugin",
  resource: "openshift.io/lab",
  since: "",
} as const;

function vf(vfID: number, more: Partial<VfStatus> = {}): VfStatus {
  return { pciAddress: `0000:3b:02.${vfID}`, vfID, driver: "iavf", name: `eth${vfID}`, ...more };
}

describe("holderOf", () => {
  it.each([
    { does: "names the pod", holders: known, vf: vf(0, { holder: web }), is: web },
    { does: "names the last known pod", holders: { known: false }, vf: vf(0, { holder: web }), is: web },
    { does: "knows a free VF", holders: known, vf: vf(0), is: "free" },
    {
      does: "knows a free VF of vfio-pci",
      holders: known,
      vf: { ...vf(0, { driver: "vfio-pci" }), name: "" },
      is: "free",
    },
    {
      does: "takes nothing for free while the kubelet does not answer",
      holders: { known: false },
      vf: vf(0),
      is: "unknown",
    },
    { does: "takes nothing for free that an older daemon reports", holders: undefined, vf: vf(0), is: "unknown" },
    { does: "takes no VF for free whose interface is away", holders: known, vf: vf(0, { name: "" }), is: "unknown" },
  ])("$does", ({ holders, vf: one, is }) => {
    expect(holderOf({ holders }, one)).toEqual(is);
  });
});
