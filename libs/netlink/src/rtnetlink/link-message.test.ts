// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NetlinkError } from "../netlink-error.ts";
import { bytes, nested, text, u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, linkAttributes, parseLink, parseLinkIdentity } from "./link-message.ts";
import { vfAttributes } from "./vf-info.ts";

const [, ...lines] = readFileSync(join(__dirname, "testdata/igb-pf-link.hex"), "utf8").split("\n");
const igb = Buffer.from(lines.join(""), "hex");

/** What igb reports of a new VF. */
const settings = {
  vlan: 0,
  vlanQos: 0,
  vlanProtocol: "802.1Q",
  spoofCheck: true,
  trust: false,
  linkState: "auto",
  minTxRate: 0,
  maxTxRate: 0,
};

describe("parseLink", () => {
  it("parses a PF with its VFs", () => {
    const none = "00:00:00:00:00:00";
    expect(parseLink(igb)).toEqual({
      index: 2,
      name: "eth0",
      altNames: [],
      hardwareType: 1,
      address: "52:54:00:aa:00:00",
      permanentAddress: "52:54:00:aa:00:00",
      adminUp: true,
      promiscuous: false,
      mtu: 9000,
      maxMtu: 9216,
      parent: { bus: "pci", name: "0000:01:00.0" },
      hasXdp: false,
      vfs: [
        { vfId: 0, address: none, ...settings },
        { vfId: 1, address: "02:00:00:00:00:01", ...settings },
        { vfId: 2, address: none, ...settings, vlan: 100, vlanQos: 3 },
        { vfId: 3, address: none, ...settings },
      ],
    });
  });

  it("parses port name, switch ID, kind, alternative names, XDP, long addresses and GUIDs", () => {
    const mac = Buffer.alloc(36, 0xab);
    mac.writeUInt32LE(7, 0);
    const guid = Buffer.from("07000000000000007766554433221100", "hex");
    const message = Buffer.concat([
      encodeLinkHeader(),
      text(linkAttributes.name, "ib0"),
      bytes(linkAttributes.address, Buffer.alloc(20, 1)),
      text(linkAttributes.physPortName, "pf0vf3"),
      bytes(linkAttributes.physSwitchId, Buffer.of(0x52, 0x54, 0x00, 0xaa)),
      nested(linkAttributes.linkInfo, [text(1, "ipoib")]),
      nested(linkAttributes.properties, [text(linkAttributes.altName, "one"), text(linkAttributes.altName, "two")]),
      nested(linkAttributes.vfInfoList, [
        nested(vfAttributes.info, [bytes(vfAttributes.mac, mac), bytes(vfAttributes.nodeGuid, guid)]),
      ]),
      u32(linkAttributes.maxMtu, 0),
      nested(linkAttributes.xdp, [bytes(2, Buffer.of(1))]),
    ]);
    expect(parseLink(message)).toMatchObject({
      name: "ib0",
      address: Array(20).fill("01").join(":"),
      physPortName: "pf0vf3",
      physSwitchId: "525400aa",
      kind: "ipoib",
      altNames: ["one", "two"],
      hasXdp: true,
      vfs: [{ vfId: 7, address: Array(20).fill("ab").join(":"), vlan: 0, nodeGuid: "00:11:22:33:44:55:66:77" }],
    });
    expect(parseLink(message)).not.toHaveProperty("maxMtu");
    expect(parseLinkIdentity(message)).toEqual({ index: 0, name: "ib0" });
  });

  it("parses settings of a VF, and leaves out those that the driver does not report", () => {
    const u32s = (...numbers: readonly number[]) =>
      Buffer.concat(numbers.map((number) => Buffer.from(Uint32Array.of(number).buffer)));
    const message = (...attributes: readonly Buffer[]) =>
      Buffer.concat([
        encodeLinkHeader({ flags: 0x100 }),
        text(linkAttributes.name, "eth0"),
        nested(linkAttributes.vfInfoList, [
          nested(vfAttributes.info, [bytes(vfAttributes.mac, Buffer.alloc(36)), ...attributes]),
        ]),
      ]);
    const notReported = 0xffff_ffff;
    const link = parseLink(
      message(
        bytes(vfAttributes.spoofCheck, u32s(0, notReported)),
        bytes(vfAttributes.trust, u32s(0, 1)),
        bytes(vfAttributes.linkState, u32s(0, 2)),
        bytes(vfAttributes.rate, u32s(0, 10, 1_000)),
        nested(vfAttributes.vlanList, [bytes(1, Buffer.concat([u32s(0, 5, 1), Buffer.of(0x88, 0xa8, 0, 0)]))]),
      ),
    );
    expect(link.promiscuous).toBe(true);
    expect(link.vfs).toEqual([
      {
        ...{ vfId: 0, address: "", vlan: 0, vlanQos: 0 },
        ...{ vlanProtocol: "802.1ad", trust: true, linkState: "disable", minTxRate: 10, maxTxRate: 1_000 },
      },
    ]);
    const { spoofCheck: _spoofCheck, trust: _trust, ...others } = settings;
    expect(parseLink(message()).vfs).toEqual([{ vfId: 0, address: "", ...others }]);
  });

  it("parses the identity of an interface alone", () => {
    const parent = { bus: "pci", name: "0000:01:00.0" };
    expect(parseLinkIdentity(igb)).toEqual({ index: 2, name: "eth0", parent });
  });

  it("parses any bytes or throws NetlinkError malformed", () => {
    const damage = fc.record({ at: fc.nat(igb.length - 1), byte: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 20 }), fc.nat(igb.length), (damages, length) => {
        const message = Buffer.from(igb);
        for (const { at, byte } of damages) message[at] = byte;
        try {
          const { index, name, parent } = parseLink(message.subarray(0, length));
          expect(name).toEqual(expect.any(String));
          expect(parseLinkIdentity(message.subarray(0, length))).toEqual({ index, name, parent });
        } catch (error) {
          expect(error).toBeInstanceOf(NetlinkError);
          expect(error).toMatchObject({ code: "malformed" });
        }
      }),
    );
  });
});
