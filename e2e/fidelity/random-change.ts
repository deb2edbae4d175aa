// SPDX-License-Identifier: Apache-2.0
/**
 * randomChange generates a node with NICs, the policies that are applied to it first, and those that replace them.
 * Usage: `fc.sample(randomChange, { numRuns: 1_000, seed })`.
 */
import type { SriovNetworkNodePolicySpec } from "@switchyard/api";
import { i40e, ice, igb, mlx5 } from "@switchyard/host/testing";
import fc from "fast-check";

/** A policy of the node, without the selector of the node. */
export type RandomPolicy = Omit<SriovNetworkNodePolicySpec, "nodeSelector">;

export interface RandomChange {
  /** Models of the cards; the first ports are 0000:01:00.0 and 0000:3b:00.0. */
  readonly models: readonly (keyof typeof models)[];
  readonly before: readonly RandomPolicy[];
  readonly after: readonly RandomPolicy[];
}

export const models = { igb, i40e, ice, mlx5 };

export const slots = ["0000:01:00.0", "0000:3b:00.0"] as const;
const ports = slots.flatMap((slot) => [slot, slot.replace(/0$/, "1")]);

const policy: fc.Arbitrary<RandomPolicy> = fc
  .record({
    address: fc.constantFrom(...ports),
    numVfs: fc.integer({ min: 1, max: 7 }),
    mtu: fc.constantFrom(0, 0, 1500, 9000),
    priority: fc.constantFrom(10, 20, 99),
    deviceType: fc.constantFrom("netdevice" as const, "netdevice" as const, "vfio-pci" as const),
    eSwitchMode: fc.constantFrom("legacy" as const, "legacy" as const, "switchdev" as const),
    isRdma: fc.constantFrom(false, false, true),
    resourceName: fc.constantFrom("fast", "slow"),
    first: fc.constantFrom(undefined, undefined, 0, 1),
  })
  .map(({ address, mtu, isRdma, deviceType, first, ...rest }) => ({
    ...rest,
    ...{ deviceType, isRdma: isRdma && deviceType === "netdevice" },
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

const policies = fc.array(policy, { maxLength: 3 });

const hasEswitch = { igb: false, i40e: false, ice: true, mlx5: true };

/** Drivers without an eswitch refuse switchdev with an error of their own, which no plan can know. */
function withPossibleModes(change: RandomChange): RandomChange {
  const possible = (all: readonly RandomPolicy[]) =>
    all.map((one) => {
      const slot = slots.findIndex((each) => one.nicSelector.rootDevices?.[0]?.startsWith(each.slice(0, -1)));
      const model = change.models[slot];
      return model !== undefined && hasEswitch[model] ? one : { ...one, eSwitchMode: "legacy" as const };
    });
  return { ...change, before: possible(change.before), after: possible(change.after) };
}

export const randomChange: fc.Arbitrary<RandomChange> = fc
  .record({
    models: fc.array(fc.constantFrom(...(Object.keys(models) as (keyof typeof models)[])), {
      minLength: 1,
      maxLength: 2,
    }),
    before: policies,
    after: policies,
  })
  .map(withPossibleModes);
