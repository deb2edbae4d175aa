// SPDX-License-Identifier: Apache-2.0
/**
 * randomChange generates a node with NICs, the policies that are applied to it first, and those that replace them.
 */
import type { PolicyBridge, SriovNetworkNodePolicySpec, SriovNetworkPoolConfigSpec } from "@switchyard/api";
import { i40e, ice, igb, mlx5, type DriverQuirks } from "@switchyard/host/testing";
import fc from "fast-check";

/** A policy of the node, without the selector of the node. */
export type RandomPolicy = Omit<SriovNetworkNodePolicySpec, "nodeSelector">;

/** What applies to the node at one time. */
export interface RandomDemand {
  readonly policies: readonly RandomPolicy[];
  /** The mode of the RDMA subsystem that the pool of the node sets; absent if it sets none. */
  readonly rdmaMode?: SriovNetworkPoolConfigSpec["rdmaMode"];
}

export interface RandomChange {
  /** Models of the cards; the first ports are 0000:01:00.0 and 0000:3b:00.0. */
  readonly models: readonly (keyof typeof models)[];
  /** Quirks of the driver of each card. A plan cannot know refusals that the driver has not given yet, so there are none of them. */
  readonly quirks: readonly DriverQuirks[];
  /** Whether the machine has an IOMMU only with a kernel argument. */
  readonly needsReboots: boolean;
  readonly before: RandomDemand;
  readonly after: RandomDemand;
}

export const models = { igb, i40e, ice, mlx5 };

/** Half of the cards have one. Each of them must lead to the same steps as without it. */
const quirks: readonly DriverQuirks[] = [
  ...Array.from({ length: 8 }, () => ({})),
  { autoprobe: false },
  { isVfioFirst: true },
  { interfaceAfterMs: 5 },
  { vfIntervalMs: 5 },
  { hasNoVfMacs: true },
  { hasZeroVfMac: true },
  { busyVfMacs: 1 },
  { vfResetMs: 5 },
];

export const slots = ["0000:01:00.0", "0000:3b:00.0"] as const;
const ports = slots.flatMap((slot) => [slot, slot.replace(/0$/, "1")]);

/** Bridges for PFs in switchdev mode; none for most. */
const bridges: readonly (PolicyBridge | undefined)[] = [
  ...[undefined, undefined, undefined],
  { ovs: {} },
  { ovs: { bridge: { datapathType: "system", externalIDs: { rack: "7" } } } },
  { linux: {} },
];

const policy: fc.Arbitrary<RandomPolicy> = fc
  .record({
    address: fc.constantFrom(...ports),
    // The firmware of an mlx5 card allows 16 at first and is changed for more. Other models cannot have more than they support.
    numVfs: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 7 }) }, fc.constantFrom(17, 20)),
    mtu: fc.constantFrom(0, 0, 1500, 9000),
    priority: fc.constantFrom(10, 20, 99),
    deviceType: fc.constantFrom("netdevice" as const, "netdevice" as const, "vfio-pci" as const),
    eSwitchMode: fc.constantFrom("legacy" as const, "legacy" as const, "switchdev" as const),
    isRdma: fc.constantFrom(false, false, true),
    resourceName: fc.constantFrom("fast", "slow"),
    first: fc.constantFrom(undefined, undefined, 0, 1),
    bridge: fc.constantFrom(...bridges),
  })
  .map(({ address, mtu, isRdma, deviceType, first, bridge, ...rest }) => ({
    ...rest,
    ...(bridge !== undefined && rest.eSwitchMode === "switchdev" && { bridge }),
    deviceType,
    isRdma: isRdma && deviceType === "netdevice",
    ...(mtu > 0 && { mtu }),
    nicSelector: {
      rootDevices: [address],
      // All cards have a name of this form as an alternative name.
      ...(first !== undefined &&
        first < rest.numVfs && { pfNames: [`${altName(address)}#${first}-${rest.numVfs - 1}`] }),
    },
  }));

/** The name by the MAC address that the fake kernel gives a port. */
function altName(address: string): string {
  const [, bus = "", port = ""] = /^0000:(..):00\.(.)$/.exec(address) ?? [];
  return `enx525400${bus}000${port}`;
}

const demand: fc.Arbitrary<RandomDemand> = fc
  .record({
    policies: fc.array(policy, { maxLength: 3 }),
    rdmaMode: fc.constantFrom(undefined, undefined, undefined, undefined, "shared" as const, "exclusive" as const),
  })
  .map(({ policies, rdmaMode }) => ({ policies, ...(rdmaMode && { rdmaMode }) }));

const hasEswitch = { igb: false, i40e: false, ice: true, mlx5: true };

/** Drivers without an eswitch refuse switchdev with an error of their own, which no plan can know. */
function withPossibleModes(change: RandomChange): RandomChange {
  const possible = ({ policies, ...rest }: RandomDemand): RandomDemand => ({
    ...rest,
    policies: policies.map((one) => {
      const slot = slots.findIndex((each) => one.nicSelector.rootDevices?.[0]?.startsWith(each.slice(0, -1)));
      const model = change.models[slot];
      if (model !== undefined && hasEswitch[model]) return one;
      const { bridge: _bridge, ...withoutBridge } = one;
      return { ...withoutBridge, eSwitchMode: "legacy" as const };
    }),
  });
  return { ...change, before: possible(change.before), after: possible(change.after) };
}

export const randomChange: fc.Arbitrary<RandomChange> = fc
  .record({
    models: fc.array(fc.constantFrom(...(Object.keys(models) as (keyof typeof models)[])), {
      minLength: 1,
      maxLength: 2,
    }),
    quirks: fc.array(fc.constantFrom(...quirks), { minLength: slots.length, maxLength: slots.length }),
    needsReboots: fc.constantFrom(false, false, true),
    before: demand,
    after: demand,
  })
  .map(withPossibleModes);
