// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isOwned, mergeMaps, ownEntries, podNamespaceOf } from "./ovs-rows.ts";

/** Anybody can write the rows, including the keys that Switchyard uses. */
const keys = fc.constantFrom("a", "b", "__proto__", "switchyard.io/owner", "switchyard.io/keys");
const values = fc.oneof(
  fc.string(),
  fc.json(),
  fc.constantFrom('{"external_ids":["a","switchyard.io/keys"]}', '{"options":"a"}'),
);
const maps = fc.array(fc.tuple(keys, values)).map((entries) => new Map(entries));
const wantedMaps = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.string());

describe("marks of owned rows", () => {
  it("make the wanted entries readable, whatever the row had before", () => {
    const rows = fc.record({ external_ids: maps, other_config: maps, options: maps });
    const wanted = fc.record({ external_ids: wantedMaps, other_config: wantedMaps, options: wantedMaps });
    fc.assert(
      fc.property(rows, wanted, (row, entries) => {
        const merged = mergeMaps(row, entries, {});
        expect(isOwned(merged)).toBe(true);
        for (const column of ["external_ids", "other_config", "options"] as const)
          expect(ownEntries(merged, column) ?? {}).toEqual(entries[column]);
        expect(mergeMaps(merged, entries, {})).toEqual(merged);
      }),
    );
  });
});

describe("podNamespaceOf", () => {
  it("is known for ports of the CNI plugin ovs only", () => {
    const port = { _uuid: "", name: "ens1f0_0", interfaces: new Set<string>() };
    const of = (entries: Readonly<Record<string, string>>) =>
      podNamespaceOf({ ...port, external_ids: new Map(Object.entries(entries)) });
    expect(of({ owner: "ovs-cni.network.kubevirt.io", contNetns: "/run/netns/cni-1" })).toBe("/run/netns/cni-1");
    expect([of({ contNetns: "/run/netns/cni-1" }), of({ owner: "ovs-cni.network.kubevirt.io" })]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
