// SPDX-License-Identifier: Apache-2.0
/**
 * What it takes to give back a PF that we own and that no policy selects any more (sriov-operator.md F.6, "Reset list").
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { OwnedPf } from "./owned-pf.ts";
import type { PfStep } from "./step.ts";

/** VFs away, MTU as it was, then the ownership. What somebody else made stays as it is. */
export function planReset(pf: InterfaceStatus, owned: OwnedPf): readonly PfStep[] {
  const { pciAddress } = pf;
  const release = { kind: "release-pf", pciAddress } as const;
  if (owned.externallyManaged) return [release];

  const steps: PfStep[] = [];
  const from = pf.numVfs ?? 0;
  if (from > 0) steps.push({ kind: "set-num-vfs", pciAddress, from, to: 0 });
  if (owned.initialMtu !== undefined && pf.mtu !== undefined && pf.mtu !== owned.initialMtu) {
    steps.push({ kind: "set-pf-mtu", pciAddress, from: pf.mtu, to: owned.initialMtu });
  }
  return [...steps, release];
}
