// SPDX-License-Identifier: Apache-2.0
/** checkMtu compares spec.mtu with the maximum MTU of the PFs that report one. */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { refuse, type Finding } from "../finding.ts";
import { findingsByNode } from "../findings-by-node.ts";
import type { PolicyContext } from "../policy-context.ts";

export function checkMtu({ spec }: SriovNetworkNodePolicy, { targets }: PolicyContext): readonly Finding[] {
  const { mtu } = spec;
  if (mtu === undefined) return [];
  return findingsByNode(targets, ({ pciAddress, maxMtu }) =>
    maxMtu === undefined || mtu <= maxMtu
      ? []
      : [refuse("spec.mtu", `MTU ${mtu} requested, but ${pciAddress} supports at most ${maxMtu}`)],
  );
}
