// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { VfStatus } from "@switchyard/api";
import fc from "fast-check";
import { createAdmissionCache } from "./policy-context.ts";
import { impactOf, type ClusterImpact } from "./impact/impact.ts";
import { changedPfs } from "./impact/changed-pfs.ts";
import { createPfFingerprints } from "./impact/pf-fingerprints.ts";
import { node, pf, policy, vfs, view } from "./testing/objects.ts";

const options = { nowMs: () => 0, budgetMs: 1, cache: createAdmissionCache() };
const forgetful = { ...options, cache: { ...options.cache, pfFingerprint: createPfFingerprints(3) } };

/** The impact and the changes of each node. */
function byNode({ groups }: ClusterImpact): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    groups.flatMap(({ group, impact, changes }) => group.nodes.map(({ name }) => [name, { impact, changes }])),
  );
}

describe("impactOf", () => {
  const state = fc.constantFrom<Partial<VfStatus>>(
    {},
    { mtu: 9000 },
    { driver: "vfio-pci" },
    { driver: "" },
    { name: "" },
    { adminMac: "" },
  );
  const nic = fc.record({
    states: fc.array(state, { maxLength: 8 }),
    owned: fc.boolean(),
    mtu: fc.constantFrom(1500, 9000),
  });
  const nics = nic.map(({ states, owned, mtu }) =>
    pf({ owned, mtu, numVfs: states.length, Vfs: states.flatMap((one, index) => vfs(index + 1, one).slice(-1)) }),
  );
  const spec = fc.record({
    name: fc.constantFrom("p1", "p2", "p3"),
    numVfs: fc.constantFrom(4, 8),
    range: fc.constantFrom("", "#0-1", "#2-3", "#1-2"),
    mtu: fc.constantFrom(1500, 9000),
    deviceType: fc.constantFrom("netdevice", "vfio-pci"),
  });
  const policies = fc
    .uniqueArray(spec, { maxLength: 3, selector: ({ name }) => name })
    .map((specs) =>
      specs.map(({ name, range, ...fields }) =>
        policy(name, { ...fields, nicSelector: { pfNames: [`ens1f0${range}`] } }),
      ),
    );

  it("computes for nodes together what it computes for each node alone, whichever of their VFs are in which state", () => {
    const property = fc.property(
      fc.array(nics, { minLength: 1, maxLength: 6 }),
      policies,
      policies,
      (cards, before, after) => {
        const nodes = cards.map((card, index) => node(`w${index}`, [card]));
        const together = byNode(impactOf({ before, after }, view({ nodes }), options));
        const alone = nodes.map((one) => byNode(impactOf({ before, after }, view({ nodes: [one] }), options)));
        expect(together).toEqual(Object.assign({}, ...alone));
        expect(byNode(impactOf({ before, after }, view({ nodes }), forgetful))).toEqual(together);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});

describe("changedPfs", () => {
  const group = (vfRange: string, resourceName: string) => ({ vfRange, resourceName, policyName: resourceName });
  const spec = (numVfs: number, ...vfGroups: readonly ReturnType<typeof group>[]) => ({
    interfaces: [{ pciAddress: "0000:3b:00.0", numVfs, vfGroups }],
  });
  const [a, b, c] = [group("0-1", "a"), group("2-3", "b"), group("2-5", "c")];

  it("leaves out groups that stay the same if the PF itself stays the same", () => {
    const changed = changedPfs(spec(8, a, b), spec(8, a, c)).get("0000:3b:00.0");
    expect(changed).toMatchObject({ before: { vfGroups: [b] }, after: { vfGroups: [c] } });
    expect(changed?.ranges).toEqual([
      { first: 2, last: 3 },
      { first: 4, last: 5 },
    ]);
  });

  it("returns all groups of a PF that changes itself", () => {
    const changed = changedPfs(spec(8, a), spec(4, a)).get("0000:3b:00.0");
    expect(changed).toMatchObject({ before: { vfGroups: [a] }, after: { vfGroups: [a] } });
    expect(changed?.ranges).toEqual([
      { first: 0, last: 1 },
      { first: 2, last: 65_535 },
    ]);
    expect(changedPfs({}, spec(8, a)).get("0000:3b:00.0")).toMatchObject({ before: undefined, after: { numVfs: 8 } });
    expect(changedPfs(spec(8, a), spec(8, a)).size).toBe(0);
  });

  it("finds a PF whose bridge changes", () => {
    const bridge = (name: string) => ({ ovs: [{ name, uplinks: [{ pciAddress: "0000:3b:00.0" }] }] });
    const changed = changedPfs({ ...spec(8, a), bridges: bridge("br1") }, { ...spec(8, a), bridges: bridge("br2") });
    expect(changed.get("0000:3b:00.0")).toMatchObject({ before: { vfGroups: [a] }, after: { vfGroups: [a] } });
  });
});
