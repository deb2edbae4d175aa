// SPDX-License-Identifier: Apache-2.0
/**
 * Describes the PFs that Switchyard configured and may therefore reset. The daemon records them on the node and reports
 * them in the status, from which every other program reads them.
 * Usage: `plan(state.spec ?? {}, state.status ?? {}, ownedInStatus(state.status ?? {}))`.
 */
import { defined, type InterfaceStatus, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import { eswitchSteps, parseEswitchMode } from "./plan-eswitch.ts";
import type { PfStep } from "../steps/step.ts";

/** What is recorded about a PF that Switchyard configured. */
export interface OwnedPf {
  /** Something else created its VFs: a reset changes nothing on the PF. */
  readonly externallyManaged: boolean;
  /** MTU in bytes that a reset restores; absent if it is not known. */
  readonly initialMtu?: number;
  /** Mode of the embedded switch that a reset restores; absent if it is not known. */
  readonly initialESwitchMode?: string;
}

/** Owned PFs by PCI address. */
export type OwnedPfs = ReadonlyMap<string, OwnedPf>;

/** Returns the owned PFs that the daemon reported. */
export function ownedInStatus(status: SriovNetworkNodeStateStatus): OwnedPfs {
  const owned = new Map<string, OwnedPf>();
  for (const pf of status.interfaces ?? []) {
    if (pf.owned !== true) continue;
    const { pciAddress, initialMtu, initialESwitchMode } = pf;
    owned.set(pciAddress, {
      externallyManaged: pf.externallyManaged === true,
      ...defined({ initialMtu, initialESwitchMode }),
    });
  }
  return owned;
}

/**
 * Plans the reset of an owned PF that no policy selects any more (sriov-operator.md F.6).
 * Removes the VFs, restores the eswitch mode and the MTU, and releases the PF. An externally managed PF is only released.
 */
export function planReset(pf: InterfaceStatus, owned: OwnedPf): readonly PfStep[] {
  const { pciAddress } = pf;
  const release = { kind: "release-pf", pciAddress } as const;
  if (owned.externallyManaged) return [release];

  const mode = owned.initialESwitchMode === undefined ? undefined : parseEswitchMode(owned.initialESwitchMode);
  const eswitch = eswitchSteps(pf, { numVfs: 0, mode });
  // bnxt_en ignores a removal of VFs while the interface of the PF is down (bnxt_sriov.c, 6.12).
  const isDown = pf.linkAdminState === "down" && (pf.numVfs ?? 0) > 0;
  const steps: PfStep[] = [...(isDown ? [{ kind: "set-link-up", pciAddress } as const] : []), ...eswitch];
  if (owned.initialMtu !== undefined && pf.mtu !== undefined && pf.mtu !== owned.initialMtu) {
    steps.push({ kind: "set-pf-mtu", pciAddress, from: pf.mtu, to: owned.initialMtu });
  }
  return [...steps, release];
}
