// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatPfRecord, parsePfRecord } from "./pf-record-file.ts";

const text = fc.string();
const group = fc.record(
  { resourceName: text, vfRange: text, mtu: fc.nat(), isRdma: fc.boolean(), needVhostNet: fc.boolean() },
  { requiredKeys: [] },
);
const spec = fc.record(
  {
    pciAddress: text,
    numVfs: fc.nat(),
    mtu: fc.nat(),
    name: text,
    linkType: text,
    eSwitchMode: text,
    externallyManaged: fc.boolean(),
    vfGroups: fc.array(group),
  },
  { requiredKeys: ["pciAddress"] },
);
const initial = fc.record({ mtu: fc.nat(), eSwitchMode: text }, { requiredKeys: [] });
const fewerVfs = fc.record({ requested: fc.nat(), created: fc.nat() });
const vf = fc.record({ vfId: fc.nat(), driver: text, mac: text }, { requiredKeys: ["vfId"] });
const unassignedMacs = fc.array(fc.nat());
const settings = { adminMac: text, spoofChk: text, name: text, mac: text, mtu: fc.nat() };
const initialVfs = fc.record({
  bootId: text,
  vfs: fc.dictionary(fc.stringMatching(/^\d{1,3}$/), fc.record(settings, { requiredKeys: [] }), {
    noNullPrototype: true,
  }),
});
const vfsBefore = fc.record({ count: fc.nat(), vfs: fc.array(vf) });

describe("parsePfRecord", () => {
  it("parses the output of formatPfRecord", () => {
    const agrees = fc.property(
      fc.record({ spec, initial, fewerVfs, vfsBefore, unassignedMacs, initialVfs }, { requiredKeys: ["spec"] }),
      (record) => {
        expect(parsePfRecord(formatPfRecord(record))).toEqual({ ok: true, value: record });
      },
    );
    fc.assert(agrees);
  });

  it.each(['"mtu":1e400', '"switchyard":{"initial":{"mtu":1e400}}', '"switchyard":{"unassignedMacs":[1e400]}'])(
    "refuses a number that cannot be written again: %s",
    (field) => {
      expect(parsePfRecord(`{"pciAddress":"0000:3b:00.0",${field}}`)).toEqual({
        ok: false,
        error: { code: "not-a-record" },
      });
    },
  );

  it("refuses a record with more levels than can be written again", () => {
    const deep = `${"[".repeat(6_000)}${"]".repeat(6_000)}`;
    expect(parsePfRecord(`{"pciAddress":"0000:3b:00.0","x":${deep}}`)).toEqual({
      ok: false,
      error: { code: "not-json" },
    });
  });

  it("never throws for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (content) => {
        expect(typeof parsePfRecord(content).ok).toBe("boolean");
      }),
    );
  });
});
