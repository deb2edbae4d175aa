// SPDX-License-Identifier: Apache-2.0
/** MTUs that a card does not take, where it says how much it takes. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { refuse, type Finding } from "../finding.ts";
import { findingsByNode } from "../findings-by-node.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkMtu({ spec }: SriovNetworkNodePolicy, { reach }: PolicyContext): readonly Finding[] {
  const { mtu } = spec;
  if (mtu === undefined) return [];
  return findingsByNode(reach, ({ pciAddress, maxMtu }) =>
    maxMtu === undefined || mtu <= maxMtu
      ? []
      : [refuse("spec.mtu", `${mtu} requested, but ${pciAddress} supports at most ${maxMtu}`)],
  );
}
