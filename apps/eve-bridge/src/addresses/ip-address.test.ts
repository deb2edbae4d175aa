// SPDX-License-Identifier: Apache-2.0
import { isIP } from "node:net";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatCidr, formatIp, isUnspecified, maskOf, networkOf, parseCidr, parseIp } from "./ip-address.ts";

describe("parseIp", () => {
  it("accepts the same addresses as node:net", () => {
    const near = fc.stringMatching(/^[0-9a-f:.]{0,24}$/);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), near), (text) => {
        expect([text, parseIp(text) !== undefined]).toEqual([text, isIP(text) !== 0]);
      }),
      { numRuns: 2000 },
    );
  });

  it("reads an IPv4-mapped IPv6 address as the IPv4 address", () => {
    expect(parseIp("::ffff:10.0.0.1")).toEqual([10, 0, 0, 1]);
  });
});

describe("formatIp", () => {
  it.each([
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["fe80::", "fe80::"],
    ["10.0.0.1", "10.0.0.1"],
  ])("spells %s as %s", (text, short) => {
    expect(formatIp(parseIp(text) ?? [])).toBe(short);
  });

  it("writes every address so that parseIp returns the same address", () => {
    const address = fc.oneof(
      fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }),
      fc.ipV6().map((text) => [...(parseIp(text) ?? [])]),
    );
    fc.assert(
      fc.property(address, (bytes) => {
        expect(parseIp(formatIp(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe("parseCidr", () => {
  it.each([
    "10.0.0.1",
    "10.0.0.1/33",
    "10.0.0.1/-1",
    "10.0.0.1/08",
    "10.0.0.1/8/8",
    "::1/129",
    "/8",
    "x/8",
    "10.0.0.1/",
  ])("refuses %j", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  it("keeps the host bits", () => {
    expect(formatCidr(parseCidr("10.0.0.5/24") ?? { address: [], bits: 0 })).toBe("10.0.0.5/24");
  });
});

describe("masks and networks", () => {
  it.each([
    ["10.11.12.2/32", "/////w==", "10.11.12.2/32"],
    ["10.0.0.5/24", "////AA==", "10.0.0.0/24"],
    ["0.0.0.0/0", "AAAAAA==", "0.0.0.0/0"],
    ["10.255.255.255/9", "/4AAAA==", "10.128.0.0/9"],
    ["2001:db8::7/64", "//////////8AAAAAAAAAAA==", "2001:db8::/64"],
  ])("of %s", (text, mask, network) => {
    const cidr = parseCidr(text) ?? { address: [], bits: 0 };
    expect([maskOf(cidr).toString("base64"), formatCidr(networkOf(cidr))]).toEqual([mask, network]);
  });

  it("recognizes the unspecified addresses", () => {
    expect(["0.0.0.0", "::", "0.0.0.1"].map((text) => isUnspecified(parseIp(text) ?? [1]))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
