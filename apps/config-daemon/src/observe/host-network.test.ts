// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { blueField, createFakeKernel, igb, type FakeKernel } from "@switchyard/host/testing";
import { observeNode } from "./observe.ts";

const etc = "/etc/NetworkManager/system-connections";
const run = "/run/NetworkManager/system-connections";

interface Given {
  /** The interface with the default route. */
  readonly route: string;
  readonly profiles?: readonly string[];
  readonly make?: (kernel: FakeKernel) => void;
}

async function hostNetworkOf({ route, profiles = [], make }: Given) {
  const kernel = createFakeKernel({ nics: [blueField("0000:3b:00.0")] });
  for (const path of profiles) await kernel.host().files.writeText(path, "");
  kernel.addLinkByHand("ovs-system", "openvswitch");
  kernel.addLinkByHand("br-ex", "openvswitch");
  kernel.addLinkByHand("eno1", "dummy");
  make?.(kernel);
  kernel.addRouteByHand("default", route);
  return (await observeNode(kernel.host())).system.hostNetwork;
}

describe("the network of the host of a SmartNIC", () => {
  it.each([
    { does: "is given back", profiles: [`${run}/ovs-if-br-ex.nmconnection`], made: true },
    {
      does: "is given back if its profiles are persistent",
      profiles: [`${etc}/ovs-if-phys0.nmconnection`],
      made: true,
    },
    {
      does: "is given back if another file has the name",
      made: true,
      profiles: [`${run}/ovs-if-br-ex-0a1b2c3d-0a1b-4c3d-8e5f-0123456789ab.nmconnection`],
    },
    { does: "is lost with the profiles of NMState", profiles: [`${etc}/br-ex-if.nmconnection`], made: false },
    { does: "is lost without profiles", profiles: [], made: false },
  ])("on br-ex $does", async ({ profiles, made }) => {
    expect(await hostNetworkOf({ route: "br-ex", profiles })).toEqual({
      openVSwitchInterfaces: ["br-ex"],
      madeByConfigureOvs: made,
    });
  });

  it("is lost on another bridge, and on a VLAN of br-ex, beside the br-ex of configure-ovs", async () => {
    const profiles = [`${run}/ovs-if-br-ex.nmconnection`];
    const cases: readonly (readonly [string, (kernel: FakeKernel) => void])[] = [
      [
        "br-mine",
        (kernel) => {
          kernel.addLinkByHand("br-mine", "openvswitch");
        },
      ],
      [
        "br-ex.7",
        (kernel) => {
          kernel.addLinkByHand("br-ex.7", "vlan", "br-ex");
        },
      ],
    ];
    for (const [route, make] of cases) {
      expect(await hostNetworkOf({ route, profiles, make })).toEqual({
        openVSwitchInterfaces: [route],
        madeByConfigureOvs: false,
      });
    }
  });

  it("does not depend on Open vSwitch if the default route is elsewhere, or if there is no Open vSwitch", async () => {
    expect(await hostNetworkOf({ route: "eno1" })).toEqual({});
    const kernel = createFakeKernel({ nics: [blueField("0000:3b:00.0")] });
    expect((await observeNode(kernel.host())).system.hostNetwork).toEqual({});
  });

  it("is not reported by nodes without a SmartNIC", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    kernel.addLinkByHand("br-ex", "openvswitch");
    kernel.addRouteByHand("default", "br-ex");
    expect((await observeNode(kernel.host())).system.hostNetwork).toBeUndefined();
  });
});
