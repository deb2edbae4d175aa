// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { checkIpam } from "./ipam.ts";

const messagesOf = (ipam: object | string | undefined) => {
  return checkIpam(typeof ipam === "object" ? JSON.stringify(ipam) : ipam).map(({ message }) => message);
};
const noPrefix = (path: string, value: string, example: string) =>
  `${path} "${value}" has no prefix length, so pods would not start: write one, such as "${example}"`;

describe("checkIpam", () => {
  it.each([
    { ipam: { type: "host-local", subnet: "10.0.0.0" }, says: [noPrefix("subnet", "10.0.0.0", "10.0.0.0/24")] },
    {
      ipam: { type: "host-local", ranges: [[{ subnet: "10.0.0.0/24" }, { subnet: "fd00::" }]] },
      says: [noPrefix("ranges[0][1].subnet", "fd00::", "fd00::/64")],
    },
    {
      ipam: { type: "static", addresses: [{ address: "10.0.0.5" }] },
      says: [noPrefix("addresses[0].address", "10.0.0.5", "10.0.0.5/24")],
    },
    { ipam: { type: "whereabouts", range: "10.0.0.0" }, says: [noPrefix("range", "10.0.0.0", "10.0.0.0/24")] },
    {
      ipam: { type: "whereabouts", ipRanges: [{ range: "10.0.0.0" }] },
      says: [noPrefix("ipRanges[0].range", "10.0.0.0", "10.0.0.0/24")],
    },
  ])("warns about $ipam", ({ ipam, says }) => {
    expect(messagesOf(ipam)).toEqual(says);
  });

  it.each([
    [{ type: "host-local", subnet: "10.0.0.0/24" }],
    [{ type: "whereabouts", range: "10.0.0.10-10.0.0.20/24" }],
    [{ type: "static" }],
    [{ type: "host-local" }],
    [{ type: "dhcp" }],
    [{ type: "example", subnet: "10.0.0.0" }],
    [{ type: "host-local", subnet: 7, ranges: [7, [null]] }],
    ["{"],
    ["null"],
    [undefined],
  ])("says nothing about %j", (ipam) => {
    expect(messagesOf(ipam)).toEqual([]);
  });
});
