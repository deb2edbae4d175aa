// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel } from "../testing/fake-kernel.ts";
import { findNested, parseAttributes } from "../wire/attributes.ts";
import { linkAttributes, linkHeaderBytes } from "./link-message.ts";
import { setVfSetting, type VfSetting } from "./set-link.ts";
import { vfAttributes } from "./vf-info.ts";

/** Returns the type and the value, in hexadecimal, of the only attribute that the request has for VF 3. */
async function requestFor(setting: VfSetting): Promise<readonly [number | undefined, string | undefined]> {
  const kernel = createFakeKernel((asked) => [ack(asked)]);
  await using socket = new NetlinkSocket({ protocol: protocols.route, libc: kernel });
  await setVfSetting(socket, "ens1f0", { vfId: 3, setting });
  const attributes = parseAttributes(kernel.requests[0]?.payload.subarray(linkHeaderBytes) ?? Buffer.alloc(0));
  const [vf, ...others] = findNested(findNested(attributes, linkAttributes.vfInfoList), vfAttributes.info);
  expect(others).toEqual([]);
  return [vf?.type, vf?.value.toString("hex")];
}

describe("setVfSetting", () => {
  // The structs of linux/if_link.h, with the index of the VF first.
  it.each([
    { setting: { spoofCheck: false }, type: 4, value: "0300000000000000" },
    { setting: { linkState: "disable" } as const, type: 5, value: "0300000002000000" },
    { setting: { minTxRate: 10, maxTxRate: 1_000 }, type: 6, value: "030000000a000000e8030000" },
    { setting: { trust: true }, type: 9, value: "0300000001000000" },
    {
      setting: { vlan: 100, qos: 3, protocol: "802.1ad" } as const,
      type: 12,
      value: "14000100" + "030000006400000003000000" + "88a80000",
    },
  ])("requests attribute $type", async ({ setting, type, value }) => {
    expect(await requestFor(setting)).toEqual([type, value]);
  });
});
