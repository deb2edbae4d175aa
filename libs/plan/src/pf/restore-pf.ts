// SPDX-License-Identifier: Apache-2.0
/**
 * planRestore plans the steps that give a PF the bridge, the eswitch mode, the number of VFs, the MTU and the state of the link that it
 * had before a change.
 * Drivers and addresses of VFs are not part of it.
 */
import type { Bridges, InterfaceStatus, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { planLinuxBridge } from "../bridges/plan-linux-bridges.ts";
import { planOvsBridge } from "../bridges/plan-ovs-bridges.ts";
import { eswitchSteps, parseEswitchMode } from "./plan-eswitch.ts";
import type { PfStep } from "../steps/step.ts";

/** What is restored of a PF. */
export interface PfBefore {
  readonly pciAddress: string;
  readonly numVfs: number;
  /** Absent if the PF has no eswitch. */
  readonly eSwitchMode?: string;
  /** Absent if the PF had no interface. */
  readonly mtu?: number;
  /** Whether the interface was up. */
  readonly isUp: boolean;
  /** The bridges of which the PF was an uplink. */
  readonly bridges: Bridges;
}

/** `observed` has the PF as it is now. Returns no steps if nothing differs, or if the node does not have the PF. */
export function planRestore(before: PfBefore, observed: SriovNetworkNodeStateStatus): readonly PfStep[] {
  const { pciAddress, numVfs, mtu } = before;
  const found = (observed.interfaces ?? []).find((each) => each.pciAddress === pciAddress);
  if (found === undefined) return [];
  const { hostUse: _use, ...pf } = found; // what the host uses it for does not keep it in the bridge that cut it off
  const mode = before.eSwitchMode === undefined ? undefined : parseEswitchMode(before.eSwitchMode);
  const eswitch = isEqual(pf, before) ? [] : eswitchSteps(pf, { numVfs, mode });
  // A PF that is not wanted leaves bridges that it did not have.
  const desired = { unselected: [pciAddress], bridges: before.bridges };
  const linux = planLinuxBridge(pf, { desired, observed, pfSteps: eswitch });
  const ovs = planOvsBridge(pf, { desired, observed, pfSteps: eswitch });
  const steps: PfStep[] = [...linux.before, ...ovs.before, ...eswitch, ...ovs.after, ...linux.after];
  if (mtu !== undefined && pf.mtu !== undefined && pf.mtu !== mtu) {
    steps.push({ kind: "set-pf-mtu", pciAddress, from: pf.mtu, to: mtu });
  }
  if (before.isUp && pf.linkAdminState === "down") steps.push({ kind: "set-link-up", pciAddress });
  return steps;
}

/** A PF without VFs keeps its mode otherwise, because the mode of an empty eswitch does not matter to a spec. */
function isEqual(pf: InterfaceStatus, { numVfs, eSwitchMode = pf.eSwitchMode }: PfBefore): boolean {
  return (pf.numVfs ?? 0) === numVfs && pf.eSwitchMode === eSwitchMode;
}
