// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the reset of an owned PF that no policy selects any more (sriov-operator.md F.6).
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { OwnedPf } from "./owned-pf.ts";
import { eswitchSteps, parseEswitchMode } from "./plan-eswitch.ts";
import type { PfStep } from "./steps/step.ts";

/** Removes the VFs, restores the eswitch mode and the MTU, and releases the PF. An externally managed PF is only released. */
export function planReset(pf: InterfaceStatus, owned: OwnedPf): readonly PfStep[] {
  const { pciAddress } = pf;
  const release = { kind: "release-pf", pciAddress } as const;
  if (owned.externallyManaged) return [release];

  const mode = owned.initialESwitchMode === undefined ? undefined : parseEswitchMode(owned.initialESwitchMode);
  const steps: PfStep[] = [...eswitchSteps(pf, { numVfs: 0, mode })];
  if (owned.initialMtu !== undefined && pf.mtu !== undefined && pf.mtu !== owned.initialMtu) {
    steps.push({ kind: "set-pf-mtu", pciAddress, from: pf.mtu, to: owned.initialMtu });
  }
  return [...steps, release];
}
