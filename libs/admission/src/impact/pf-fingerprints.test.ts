// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { createPfFingerprints } from "./pf-fingerprints.ts";
import { pf, vfs } from "../testing/objects.ts";

const all = [{ first: 0, last: 65_535 }];
const mixed = (...inPods: readonly number[]) =>
  pf({
    numVfs: 4,
    Vfs: vfs(4).map((vf) => (inPods.includes(vf.vfID) ? { ...vf, name: "" } : { ...vf, name: "some" })),
  });

describe("createPfFingerprints", () => {
  it("ignores which VFs of a range are in which state", () => {
    const fingerprint = createPfFingerprints();
    const [some, others, more] = [mixed(0, 1), mixed(2, 3), mixed(0, 1, 2)].map((one) => ({
      ...one,
      Vfs: one.Vfs?.map(({ mac: _, adminMac: _address, ...vf }) => vf) ?? [],
    }));
    if (some === undefined || others === undefined || more === undefined) throw new TypeError("three PFs");
    expect(fingerprint(some, all)).toBe(fingerprint(others, all));
    expect(fingerprint(some, all)).not.toBe(fingerprint(more, all));
    const halves = [
      { first: 0, last: 1 },
      { first: 2, last: 3 },
    ];
    expect(fingerprint(some, halves)).not.toBe(fingerprint(others, halves));
  });

  it("never takes different PFs for equal ones, however little it remembers", () => {
    const mtus = fc.array(fc.integer({ min: 1500, max: 1510 }), { minLength: 2, maxLength: 40 });
    const property = fc.property(mtus, fc.integer({ min: 1, max: 4 }), (values, maxTexts) => {
      const fingerprint = createPfFingerprints(maxTexts);
      const found = values.map((mtu) => ({ mtu, text: fingerprint(pf({ mtu }), all) }));
      for (const a of found) {
        for (const b of found) if (a.text === b.text) expect(a.mtu).toBe(b.mtu);
      }
    });
    fc.assert(property);
  });
});
