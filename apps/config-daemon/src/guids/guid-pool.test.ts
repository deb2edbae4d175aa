// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseGuid } from "@switchyard/api";
import { pci } from "@switchyard/host/testing";
import fc from "fast-check";
import { findGuid, parseGuidPool } from "./guid-pool.ts";

const pciAddress = pci("0000:3b:00.0");
const pfGuid = "0c:42:a1:03:00:16:05:4c";

function guidOf(file: unknown, vfId = 0, of: { pciAddress?: typeof pciAddress; pfGuid?: string } = {}) {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  return findGuid(parseGuidPool(text), { pciAddress, pfGuid, vfId, ...of });
}

const guid = (last: string) => `02:00:00:00:00:00:00:${last}`;

describe("the file with GUIDs", () => {
  it.each([
    { spelling: "pciAddress and guids", entry: { pciAddress, guids: [guid("07"), guid("08")] } },
    { spelling: "pci_address, in upper case", entry: { pci_address: "0000:3B:00.0", guids: [guid("07"), guid("08")] } },
    { spelling: "guidsRange", entry: { pciAddress, guidsRange: { start: guid("07"), end: guid("08") } } },
    { spelling: "rangeStart and rangeEnd", entry: { pf_guid: pfGuid, rangeStart: guid("07"), rangeEnd: guid("08") } },
    { spelling: "pfGuid, in upper case", entry: { pfGuid: pfGuid.toUpperCase(), guids: [guid("07"), guid("08")] } },
  ])("gives VF n the GUID with index n: $spelling", ({ entry }) => {
    const file = [{ pciAddress: "0000:5e:00.0", guids: [guid("01")] }, entry];
    const found = [0, 1, 2].map((vfId) => guidOf(file, vfId));
    expect(found).toEqual([
      { ok: true, value: guid("07") },
      { ok: true, value: guid("08") },
      { ok: true, value: undefined },
    ]);
  });

  it("has no GUID for a PF without an entry", () => {
    expect(guidOf([])).toEqual({ ok: true, value: undefined });
    expect(guidOf([{ pciAddress: "0000:5e:00.0", guids: [] }])).toEqual({ ok: true, value: undefined });
  });

  it.each([
    { file: "", error: /^invalid JSON: / },
    { file: "<html>", error: /^invalid JSON: / },
    { file: `[${"[".repeat(6_000)}${"]".repeat(6_000)}]`, error: /^invalid JSON: more than 100 levels of nesting$/ },
    { file: { pciAddress, guids: [] }, error: /^it is not a list of PFs$/ },
    { file: [7], error: /^entry 1: is not an object$/ },
    { file: [{ guids: [guid("01")] }], error: /^entry 1: has neither pciAddress nor pfGuid$/ },
    {
      file: [{ pciAddress, pfGuid, guids: [] }],
      error: /^entry 1: has both pciAddress and pfGuid; only one is allowed$/,
    },
    { file: [{ pciAddress: "3b:00.0", guids: [] }], error: /^entry 1: pciAddress: "3b:00.0" is not a PCI address$/ },
    { file: [{ pfGuid: "x", guids: [] }], error: /^entry 1: pfGuid: "x" is not a GUID$/ },
    { file: [{ pciAddress }], error: /^entry 1: has neither guids nor guidsRange$/ },
    { file: [{ pciAddress, guids: guid("01") }], error: /^entry 1: guids: "02:.*" is not a list$/ },
    { file: [{ pciAddress, guids: [guid("01"), 2] }], error: /^entry 1: guids\[1\]: 2 is not a GUID$/ },
    { file: [{ pciAddress, guids: ["00:00:00:00:00:00:00:00"] }], error: /^entry 1: guids\[0\]: .* is not a GUID$/ },
    {
      file: [{ pciAddress, guidsRange: { start: guid("01") } }],
      error: /^entry 1: guidsRange.end: undefined is not a GUID$/,
    },
    { file: [{ pciAddress, guidsRange: { start: guid("02"), end: guid("01") } }], error: /is below guidsRange.start$/ },
    { file: [{ pciAddress, guids: [], rangeEnd: guid("01") }], error: /^entry 1: has both guids and rangeStart;/ },
    {
      file: [
        { pciAddress, guids: [guid("01")] },
        { pciAddress, guids: [guid("02")] },
      ],
      error: /^entry 2: 0000:3b:00.0 is also in entry 1$/,
    },
    {
      file: [
        { pciAddress, guids: [guid("01")] },
        { pfGuid, guids: [guid("02")] },
      ],
      error: /^entry 1 and entry 2 are for the same PF/,
    },
    { file: [{ pciAddress, guids: [guid("01"), guid("01")] }], error: /^02:.*:01 is twice in entry 1$/ },
    {
      file: [
        { pciAddress, guids: [guid("03")] },
        { pciAddress: "0000:5e:00.0", guidsRange: { start: guid("01"), end: guid("05") } },
      ],
      error: /^02:.*:03 is in entry 2 and entry 1$/,
    },
  ])("names the wrong place: $file", ({ file, error }) => {
    expect(guidOf(file)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  it("is used for the PFs that no wrong entry can mean", () => {
    const file = [
      { pciAddress: "0000:5e:00.0", guids: ["x"] },
      { pciAddress, guids: [guid("01")] },
    ];
    expect(guidOf(file)).toEqual({ ok: true, value: guid("01") });
    expect(guidOf(file, 0, { pciAddress: pci("0000:5e:00.0") })).toMatchObject({ ok: false });
    expect(
      guidOf([
        { pfGuid: "x", guids: [] },
        { pciAddress, guids: [guid("01")] },
      ]),
    ).toMatchObject({ ok: false });
  });

  it("names a few problems, and counts the others", () => {
    const file = Array.from({ length: 5 }, () => 7);
    expect(guidOf(file)).toMatchObject({
      error: expect.stringMatching(/^entry 1: .*; entry 2: .*; entry 3: .*; and 2 more$/),
    });
  });

  it("gives either GUIDs or a problem for any content", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.constantFrom(guid("01"), guid("ff"), pciAddress, pfGuid),
    );
    const field = fc.oneof(
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(text),
      fc.dictionary(fc.constantFrom("start", "end"), text),
    );
    const keys = ["pciAddress", "pci_address", "pfGuid", "pf_guid", "guids", "guidsRange", "rangeStart", "rangeEnd"];
    const entry = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), field));
    const file = fc.oneof(
      text,
      fc.array(entry).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(file, fc.nat(4_096), (content, vfId) => {
        const found = guidOf(content, vfId);
        if (!found.ok) expect(found.error.length).toBeLessThan(1_000);
        else if (found.value !== undefined) expect(parseGuid(found.value)).toEqual(found);
      }),
    );
  });

  it("never gives one GUID to two VFs, whatever the entries are", () => {
    const number = fc.integer({ min: 1, max: 12 }).map((value) => guid(value.toString(16).padStart(2, "0")));
    const body = fc.oneof(
      fc.record({ guids: fc.array(number, { maxLength: 4 }) }),
      fc.tuple(number, number).map(([start, end]) => ({ guidsRange: { start, end } })),
    );
    fc.assert(
      fc.property(fc.array(body, { maxLength: 4 }), (bodies) => {
        const file = bodies.map((each, nth) => ({ pciAddress: `0000:3b:00.${nth}`, ...each }));
        const given = bodies.flatMap((_, nth) =>
          Array.from({ length: 12 }, (_vf, vfId) => guidOf(file, vfId, { pciAddress: pci(`0000:3b:00.${nth}`) })),
        );
        const guids = given.flatMap((each) => (each.ok && each.value !== undefined ? [each.value] : []));
        expect(new Set(guids).size).toBe(guids.length);
      }),
    );
  });
});
