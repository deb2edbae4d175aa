// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CniError, cniCode } from "./cni-error.ts";
import { supportedVersions } from "./request.ts";
import type { JsonObject } from "./json.ts";
import { mergeResults, parseResult } from "./result.ts";
import { formatResult } from "./result-format.ts";

const full: JsonObject = {
  cniVersion: "1.1.0",
  interfaces: [
    { name: "bn1", mac: "02:16:3e:00:00:01" },
    { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: "/var/run/netns/a", mtu: 1400, pciID: "0000:00:01.0" },
  ],
  ips: [
    { interface: 1, address: "10.0.0.5/24", gateway: "10.0.0.1" },
    { interface: 1, address: "2001:db8::5/64" },
  ],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.0.0.1", mtu: 1300, priority: 5 },
    { dst: "10.1.0.0/16", scope: 253 },
    { dst: "::/0", gw: "2001:db8::1" },
  ],
  dns: { nameservers: ["10.0.0.1"] },
};

describe("formatResult", () => {
  it("keeps everything in 1.1.0", () => {
    expect(formatResult(parseResult(full), "1.1.0")).toEqual(full);
  });

  it("omits members that 1.0.0 does not have", () => {
    expect(formatResult(parseResult(full), "1.0.0")).toEqual({
      ...full,
      cniVersion: "1.0.0",
      interfaces: [
        { name: "bn1", mac: "02:16:3e:00:00:01" },
        { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: "/var/run/netns/a" },
      ],
      routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "10.1.0.0/16" }, { dst: "::/0", gw: "2001:db8::1" }],
    });
  });

  it.each(["0.3.0", "0.3.1", "0.4.0"] as const)("puts the family first in each address in %s", (version) => {
    expect(JSON.stringify(formatResult(parseResult(full), version)["ips"])).toBe(
      '[{"version":"4","interface":1,"address":"10.0.0.5/24","gateway":"10.0.0.1"},' +
        '{"version":"6","interface":1,"address":"2001:db8::5/64"}]',
    );
  });

  it.each(["0.1.0", "0.2.0"] as const)("has one address of each family with its routes in %s", (version) => {
    expect(formatResult(parseResult(full), version)).toEqual({
      cniVersion: version,
      ip4: {
        ip: "10.0.0.5/24",
        gateway: "10.0.0.1",
        routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "10.1.0.0/16" }],
      },
      ip6: { ip: "2001:db8::5/64", routes: [{ dst: "::/0", gw: "2001:db8::1" }] },
      dns: { nameservers: ["10.0.0.1"] },
    });
  });

  it("refuses a result without address in 0.2.0 with code 1", () => {
    const l2Only = parseResult({ cniVersion: "1.0.0", interfaces: [{ name: "net1" }] });
    const format = () => formatResult(l2Only, "0.2.0");
    expect(format).toThrow(expect.objectContaining({ code: cniCode.incompatibleVersion }));
    expect(format).toThrow("no valid IP addresses");
  });

  it("prints an interface without address in the order of the Go plugin, with dns always", () => {
    const l2Only = parseResult({ cniVersion: "1.0.0", interfaces: [{ name: "net1", mac: "" }] });
    expect(JSON.stringify(formatResult(l2Only, "0.3.1"))).toBe(
      '{"cniVersion":"0.3.1","interfaces":[{"name":"net1"}],"dns":{}}',
    );
  });

  it("loses no address on the way through any version from 0.3.0 on", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...supportedVersions.slice(2)),
        fc.constantFrom(...supportedVersions.slice(2)),
        (a, b) => {
          const once = formatResult(parseResult(full), a);
          const twice = formatResult(parseResult(once), b);
          expect(parseResult(twice).ips).toEqual(parseResult(full).ips);
        },
      ),
    );
  });
});

describe("parseResult", () => {
  it("treats a result without version as 0.1.0", () => {
    expect(parseResult({ ip4: { ip: "10.0.0.5/24" } }).ips).toHaveLength(1);
  });

  it("treats Go's empty strings and nulls as absent members", () => {
    const result = parseResult({
      cniVersion: "1.0.0",
      interfaces: [{ name: "a", mac: "", sandbox: "" }],
      ips: [{ address: "10.0.0.5/24", gateway: "" }],
      routes: null,
    });
    expect(result).toEqual({
      interfaces: [{ name: "a" }],
      ips: [{ address: { address: [10, 0, 0, 5], bits: 24 } }],
      routes: [],
      dns: {},
    });
  });

  it.each([
    { value: [], says: "the result must be an object, not array" },
    { value: { cniVersion: 1 }, says: "cniVersion must be a string, not number" },
    { value: { cniVersion: "2.0.0" }, says: 'CNI version "2.0.0"' },
    { value: { cniVersion: "1.0.0", interfaces: {} }, says: "interfaces must be an array, not object" },
    { value: { cniVersion: "1.0.0", interfaces: [null] }, says: "interfaces[0] must be an object, not null" },
    { value: { cniVersion: "1.0.0", interfaces: [{}] }, says: "interfaces[0].name must be a string, not missing" },
    { value: { cniVersion: "1.0.0", interfaces: [{ name: "a", mac: 1 }] }, says: "interfaces[0].mac" },
    {
      value: { cniVersion: "1.0.0", ips: [{ address: "10.0.0.5" }] },
      says: 'ips[0].address must be an address with a prefix length, not "10.0.0.5"',
    },
    { value: { cniVersion: "1.0.0", ips: [{ address: "10.0.0.5/8", gateway: "x" }] }, says: "ips[0].gateway" },
    { value: { cniVersion: "1.0.0", ips: [{ address: "10.0.0.5/8", interface: "0" }] }, says: "ips[0].interface" },
    { value: { cniVersion: "1.0.0", routes: [{ dst: null }] }, says: "routes[0].dst" },
    { value: { cniVersion: "1.0.0", routes: [{ dst: "::/0", mtu: "1" }] }, says: "routes[0].mtu" },
    { value: { cniVersion: "0.2.0", ip4: { ip: "10.0.0.5/8", routes: [1] } }, says: "ip4.routes[0]" },
    { value: { cniVersion: "1.0.0", dns: [] }, says: "dns must be an object" },
  ])("names the member at fault: $says", ({ value, says }) => {
    expect(() => parseResult(value)).toThrow(says);
  });

  it("throws nothing but CniError for any JSON", () => {
    const members = fc.record(
      {
        cniVersion: fc.constantFrom(...supportedVersions),
        interfaces: fc.jsonValue(),
        ips: fc.jsonValue(),
        routes: fc.jsonValue(),
        ip4: fc.jsonValue(),
        dns: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), members), (value) => {
        try {
          parseResult(JSON.parse(JSON.stringify(value)) as JsonObject);
        } catch (error) {
          expect(error).toBeInstanceOf(CniError);
        }
      }),
    );
  });
});

describe("mergeResults", () => {
  it("shifts the interface indexes of the addresses behind the interfaces of the earlier plugin", () => {
    const merged = mergeResults(parseResult(full), parseResult(full));
    expect(merged.interfaces).toHaveLength(4);
    expect(merged.ips.map((ip) => ip.interface)).toEqual([1, 1, 3, 3]);
  });
});
