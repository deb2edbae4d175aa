// SPDX-License-Identifier: Apache-2.0
/** Runs random changes of a policy on cards with random pairs of quirks, with drains. QUIRK_RUNS sets their number. */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, VfGroup, VfStatus } from "@switchyard/api";
import { i40e, ice, igb, mlx5, pci, type DriverQuirks } from "@switchyard/host/testing";
import fc from "fast-check";
import { drainedNode } from "../testing/drained-node.ts";

const pf = pci("0000:18:00.0");
const runs = Number(process.env["QUIRK_RUNS"] ?? "60");

const cards = { igb, i40e, ice, mlx5 };

/** One quirk each. Their times are short against the time limits of the daemon, or long. */
const quirks: readonly DriverQuirks[] = [
  { createsAtMost: 3 },
  { ignoresNumVfs: "while-down" },
  { ignoresNumVfs: "always" },
  { refusesNumVfs: { above: 2, code: "ENOSPC", log: "Only 2 interrupts available" } },
  { refusesNumVfs: { above: 3, code: "EPERM" } },
  { busyNumVfs: 1 },
  { refusesEswitchMode: { code: "EOPNOTSUPP", words: "ADQ is in use" } },
  { vfIntervalMs: 5 },
  { vfIntervalMs: 600_000 },
  { autoprobe: false },
  { isVfioFirst: true },
  { failsToProbe: [1] },
  { interfaceAfterMs: 5 },
  { neverHasInterface: [0] },
  { hasInterfaceAfterSecondBind: [1] },
  { hasNoVfMacs: true },
  { hasZeroVfMac: true },
  { busyVfMacs: 1 },
  { vfResetMs: 5 },
];

const groups = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom("netdevice", "vfio-pci"), fc.constantFrom(0, 9000))
  .map(([numVfs, deviceType, mtu]) => {
    const half = Math.floor(numVfs / 2);
    const second = { resourceName: "b", vfRange: `${half}-${numVfs - 1}`, deviceType };
    const first = { resourceName: "a", vfRange: `0-${half - 1}`, mtu };
    return { numVfs, vfGroups: [...(half > 0 ? [first] : []), ...(numVfs > 0 ? [second] : [])] satisfies VfGroup[] };
  });

const changes = fc.record({
  card: fc.constantFrom("igb", "i40e", "ice", "mlx5"),
  before: groups,
  after: groups,
  isSwitchdev: fc.boolean(),
  pair: fc.tuple(fc.constantFrom(...quirks), fc.constantFrom(...quirks)),
});

function isUsable(vf: VfStatus | undefined, { deviceType, mtu }: VfGroup, { eSwitchMode }: InterfaceSpec): boolean {
  if (vf === undefined || (eSwitchMode === "switchdev" && !vf.representorName)) return false;
  if (deviceType === "vfio-pci") return vf.driver === "vfio-pci";
  const hasAddress = vf.mac !== undefined && vf.mac !== "00:00:00:00:00:00";
  return Boolean(vf.driver) && vf.driver !== "vfio-pci" && Boolean(vf.name) && hasAddress && (!mtu || vf.mtu === mtu);
}

/** A card can have the number of VFs that it has. A VF without an address that nobody can give it does not exist. */
function possibleFor(numVfs: number, { createsAtMost, refusesNumVfs, ...others }: DriverQuirks): DriverQuirks {
  return {
    ...others,
    hasZeroVfMac: others.hasZeroVfMac === true && others.hasNoVfMacs !== true,
    ...(createsAtMost !== undefined && { createsAtMost: Math.max(createsAtMost, numVfs) }),
    ...(refusesNumVfs && { refusesNumVfs: { ...refusesNumVfs, above: Math.max(refusesNumVfs.above, numVfs) } }),
  };
}

describe("a node with a card that has quirks", () => {
  it("comes to rest without a drain, is Succeeded only if all VFs are usable, and keeps what worked", async () => {
    const property = fc.asyncProperty(changes, async ({ card, before, after, isSwitchdev, pair }) => {
      const canSwitch = card === "ice" || card === "mlx5";
      const specOf = (given: typeof before, mode: string): InterfaceSpec => ({
        pciAddress: pf,
        eSwitchMode: mode,
        ...given,
      });
      const node = drainedNode(
        cards[card](pf, { ports: 1 }),
        {},
        {
          linkTimeoutMs: 60,
          readHolders: () => Promise.resolve({ ok: true, value: { byId: new Map(), isNewKubelet: false } }),
        },
      );
      await node.pass({ interfaces: [specOf(before, "legacy")] }, 3);
      expect(node.daemon.error()).toBe("");

      node.kernel.setQuirks(pf, possibleFor(before.numVfs, { ...pair[0], ...pair[1] }));
      const spec = specOf(after, canSwitch && isSwitchdev ? "switchdev" : "legacy");
      const state = { interfaces: [spec] };
      const writes: (readonly string[])[] = [];
      for (let nth = 1; nth <= 9; nth++) {
        const first = node.kernel.writes.length;
        await node.pass(state);
        writes.push(node.kernel.writes.slice(first).map(({ method }) => method));
      }
      const isSucceeded = node.daemon.status().syncStatus === "Succeeded";
      const error = node.daemon.error();
      // At rest: nothing takes VFs away any more, and the node serves its pods.
      expect({ error, request: node.request() }).toEqual({ error, request: "Idle" });
      for (const late of writes.slice(-2)) {
        expect({
          error,
          late: late.filter((method) => ["setNumVfs", "setEswitchMode", "unbindDriver"].includes(method)),
        }).toEqual({
          error,
          late: [],
        });
      }
      const vfs = node.vfs();
      if (isSucceeded) {
        expect(writes.at(-1)).toEqual([]);
        expect(vfs.length).toBe(after.numVfs);
        for (const group of after.vfGroups) {
          const [first = 0, last = -1] = group.vfRange.split("-").map(Number);
          for (let vfId = first; vfId <= last; vfId++) {
            const vf = vfs.find(({ vfID }) => vfID === vfId);
            expect([vf, group, isUsable(vf, group, spec)]).toEqual([vf, group, true]);
          }
        }
      }
      // What worked before a refusal works after it. VFs that appear minutes later are still to come.
      const isLate = pair.some(({ vfIntervalMs = 0 }) => vfIntervalMs > 1_000);
      const kept = Math.min(before.numVfs, after.numVfs);
      expect({ error, enabled: (node.daemon.shown()[0]?.numVfs ?? 0) >= (isLate ? 0 : kept) }).toEqual({
        error,
        enabled: true,
      });
    });
    await fc.assert(property, { numRuns: runs });
  }, 300_000);
});
