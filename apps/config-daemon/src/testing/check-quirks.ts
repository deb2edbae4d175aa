// SPDX-License-Identifier: Apache-2.0
/**
 * checkQuirks runs random changes of a policy on cards with random pairs of quirks, with drains and with pods that hold VFs. It rejects
 * if a node does not come to rest, loses its network or what worked, or takes a VF from a pod without a drain. It also rejects if a node
 * is Succeeded with a VF that cannot be used.
 */
import { expect } from "@jest/globals";
import { defined, ok, type InterfaceSpec, type VfGroup, type VfStatus } from "@switchyard/api";
import { i40e, ice, igb, mlx5, pci, type DriverQuirks } from "@switchyard/host/testing";
import fc from "fast-check";
import { drainedNode } from "./drained-node.ts";

const pf = pci("0000:18:00.0");

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
  { refusesVfMacs: { code: "EINVAL" } },
  { refusesMtu: { of: "pf", code: "EINVAL" } },
  { refusesMtu: { of: "vfs", code: "EINVAL" } },
  { refusesLinkUp: { code: "EIO" } },
  { refusesVfio: { code: "EINVAL" } },
  { losesConnectivity: { withVfs: true } },
  { losesConnectivity: { inSwitchdev: true } },
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
  /** VFs that pods have during the change. */
  held: fc.subarray([0, 1, 2, 3, 4]),
  pair: fc.tuple(fc.constantFrom(...quirks), fc.constantFrom(...quirks)),
});

interface Wanted {
  readonly group: VfGroup;
  readonly spec: InterfaceSpec;
  readonly quirks: DriverQuirks;
  /** Port names of the interfaces of the node, by name. */
  readonly portNames: ReadonlyMap<string, string | undefined>;
}

function isUsable(vf: VfStatus | undefined, { group, spec, quirks, portNames }: Wanted): boolean {
  if (vf === undefined) return false;
  const { driver, name, mac, adminMac, representorName = "" } = vf;
  if (spec.eSwitchMode === "switchdev" && !portNames.get(representorName)?.endsWith(`vf${vf.vfID}`)) return false;
  const isAssigned = quirks.hasNoVfMacs === true || (adminMac !== undefined && adminMac !== noMac);
  if (group.deviceType === "vfio-pci") return driver === "vfio-pci" && isAssigned;
  const hasAddress = mac !== undefined && mac !== noMac && (quirks.hasNoVfMacs === true || mac === adminMac);
  const hasMtu = !group.mtu || vf.mtu === group.mtu;
  return Boolean(driver) && driver !== "vfio-pci" && Boolean(name) && isAssigned && hasAddress && hasMtu;
}

const holder = { namespace: "apps", name: "vnf", via: "device-plugin", resource: "openshift.io/a" } as const;
const apiServer = "192.0.2.1";
const noMac = "00:00:00:00:00:00";

/** A card can have the number of VFs that it has. A VF without an address that nobody can give it does not exist. */
function possibleFor(
  numVfs: number,
  { createsAtMost, refusesNumVfs, losesConnectivity, ...others }: DriverQuirks,
): DriverQuirks {
  return {
    ...others,
    // The node reaches its network before the change.
    ...(!(losesConnectivity?.withVfs === true && numVfs > 0) && defined({ losesConnectivity })),
    hasZeroVfMac: others.hasZeroVfMac === true && others.hasNoVfMacs !== true,
    ...(createsAtMost !== undefined && { createsAtMost: Math.max(createsAtMost, numVfs) }),
    ...(refusesNumVfs && { refusesNumVfs: { ...refusesNumVfs, above: Math.max(refusesNumVfs.above, numVfs) } }),
  };
}

/** Rejects with the smallest change that fails. `seed` repeats a run. */
export async function checkQuirks(options: {
  readonly runs: number;
  readonly seed?: number | undefined;
}): Promise<void> {
  const property = fc.asyncProperty(changes, async ({ card, before, after, isSwitchdev, held, pair }) => {
    const canSwitch = card === "ice" || card === "mlx5";
    const specOf = (given: typeof before, mode: string): InterfaceSpec => ({
      pciAddress: pf,
      eSwitchMode: mode,
      ...given,
    });
    let isLeft = false;
    let passes = 0;
    const heldVfs = new Map<string, string | undefined>();
    const node = drainedNode(
      cards[card](pf, { ports: 1 }),
      {},
      {
        linkTimeoutMs: 60,
        connectivityTimeoutMs: 10,
        apiServerAddresses: () => Promise.resolve([apiServer]),
        nowMs: () => passes * 1_000,
        readHolders: () => {
          const ids = isLeft ? [] : [...heldVfs.keys()];
          return Promise.resolve(ok({ byId: new Map(ids.map((id) => [id, [holder]])), isNewKubelet: false }));
        },
      },
    );
    await node.pass({ interfaces: [specOf(before, "legacy")] }, 3);
    expect(node.daemon.error()).toBe("");
    node.kernel.addRouteByHand("default", node.daemon.shown()[0]?.name ?? "");

    node.kernel.setQuirks(pf, possibleFor(before.numVfs, { ...pair[0], ...pair[1] }));
    for (const { vfID, pciAddress, name } of node.vfs()) {
      if (!held.includes(vfID) || !name) continue;
      node.kernel.moveToPod(pci(pciAddress));
      heldVfs.set(pciAddress, await incarnationOf(node, pciAddress));
    }
    const spec = specOf(after, canSwitch && isSwitchdev ? "switchdev" : "legacy");
    const state = { interfaces: [spec] };
    const writes: (readonly string[])[] = [];
    const taking: (readonly string[])[] = [];
    const pass = async (): Promise<void> => {
      const first = node.kernel.writes.length;
      const before = node.vfs();
      // A request for a PF without VFs, or for a VF without a driver, takes nothing from pods.
      const bound = new Set<unknown>(before.flatMap(({ pciAddress, driver }) => (driver ? [pciAddress] : [])));
      passes++;
      await node.pass(state);
      const written = node.kernel.writes.slice(first);
      writes.push(written.map(({ method }) => method));
      const takes = written.filter(({ method, args: [device] }) =>
        method === "unbindDriver"
          ? bound.has(device)
          : before.length > 0 && (method === "setNumVfs" || method === "setEswitchMode"),
      );
      taking.push(takes.map(({ method }) => method));
    };
    for (let nth = 1; nth <= 9; nth++) {
      const isDrained = node.answer() === "DrainComplete";
      // The evicted pods have given their VFs back.
      if (isDrained && !isLeft) for (const pciAddress of heldVfs.keys()) node.kernel.returnFromPod(pci(pciAddress));
      isLeft ||= isDrained;
      await pass();
      if (!isLeft) {
        for (const [pciAddress, incarnation] of heldVfs) {
          expect({ pciAddress, incarnation: await incarnationOf(node, pciAddress) }).toEqual({
            pciAddress,
            incarnation,
          });
        }
      }
    }
    if (!isLeft && heldVfs.size > 0) {
      for (const pciAddress of heldVfs.keys()) node.kernel.returnFromPod(pci(pciAddress));
      isLeft = true;
      for (let nth = 1; nth <= 3; nth++) await pass();
    }
    const isSucceeded = node.daemon.status().syncStatus === "Succeeded";
    const error = node.daemon.error();
    // At rest: nothing takes VFs away any more, and the node serves its pods.
    expect({ error, request: node.request() }).toEqual({ error, request: "Idle" });
    for (const late of taking.slice(-2)) expect({ error, late }).toEqual({ error, late: [] });
    const reaches = await node.kernel.host().connectivity.readAnswer(apiServer, 6443, 1);
    expect({ error, reaches }).toEqual({ error, reaches: true });
    const vfs = node.vfs();
    if (isSucceeded) {
      const links = await node.kernel.host().links.listLinks();
      const portNames = new Map(links.map(({ name, physPortName }) => [name, physPortName]));
      const quirksNow = { ...pair[0], ...pair[1] };
      expect(writes.at(-1)).toEqual([]);
      expect(vfs.length).toBe(after.numVfs);
      for (const group of after.vfGroups) {
        const [first = 0, last = -1] = group.vfRange.split("-").map(Number);
        for (let vfId = first; vfId <= last; vfId++) {
          const vf = vfs.find(({ vfID }) => vfID === vfId);
          const isReady = isUsable(vf, { group, spec, quirks: quirksNow, portNames });
          expect([vf, group, isReady]).toEqual([vf, group, true]);
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
  await fc.assert(property, { numRuns: options.runs, ...(options.seed !== undefined && { seed: options.seed }) });
}

async function incarnationOf(
  { kernel }: ReturnType<typeof drainedNode>,
  pciAddress: string,
): Promise<string | undefined> {
  return (await kernel.host().sriov.readBinding(pci(pciAddress)))?.incarnation;
}
