// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the Linux bridges of spec.bridges.linux (upstream's proposal on software bridges, which upstream did not implement).
 * Each bridge has exactly one PF as its uplink, so its steps belong to this PF. A bridge is removed only if it is certain
 * that it is not wanted: spec.interfaces or spec.unselected names its PF, and spec.bridges.linux does not.
 * Usage: `const { before, after, problems } = planLinuxBridge(pf, context)`.
 */
import type {
  InterfaceStatus,
  LinuxBridge,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { bridgeNameOf } from "@switchyard/policy";
import {
  changesEswitchMode,
  isHeldInLegacy,
  uplinkOf,
  uplinkProblems,
  type BridgeContext,
  type BridgePlan,
} from "./bridge-uplinks.ts";
import { isUsed, usedProblem } from "./host-use-problem.ts";
import { observedPort, parseLinuxBridge, type LinuxBridgeSettings } from "./linux-bridge-settings.ts";
import type { PlanProblem } from "./problem.ts";
import type { PfStep } from "./steps/step.ts";

export interface LinuxBridgePlan extends BridgePlan {
  /** A bridge must be removed first and cannot be: no other step of the PF may run. */
  readonly isBlocking: boolean;
}

export function planLinuxBridge(pf: InterfaceStatus, context: BridgeContext): LinuxBridgePlan {
  const { desired, observed, pfSteps } = context;
  const { pciAddress } = pf;
  const bridges = desired.bridges?.linux ?? [];
  const index = bridges.findIndex((bridge) => uplinkOf(bridge)?.pciAddress === pciAddress);
  const wanted = bridges[index];
  const field = `spec.bridges.linux[${index}]`;
  const existing = (observed.bridges?.linux ?? []).find((bridge) => isOf(bridge, pciAddress));
  const entry = desired.interfaces?.find((spec) => spec.pciAddress === pciAddress);
  const changesMode = changesEswitchMode(pfSteps);

  const isObsolete = wanted === undefined && (entry !== undefined || desired.unselected?.includes(pciAddress) === true);
  const removed = isObsolete || changesMode ? existing : undefined;
  if (removed !== undefined && isUsed(pf))
    return { ...nothing, problems: [keptProblem(pf, removed)], isBlocking: true };
  const before: PfStep[] =
    removed === undefined ? [] : [{ kind: "remove-linux-bridge", pciAddress, bridge: removed.name }];
  if (wanted === undefined) return { ...nothing, before };

  const parsed = parseLinuxBridge(wanted, pciAddress);
  if (!parsed.ok) {
    const problem = { code: "malformed-bridge", field, pciAddress, message: parsed.error } as const;
    return { ...nothing, before, problems: [problem] };
  }
  const kept = removed === undefined ? existing : undefined;
  const isAttached = kept !== undefined && uplinkOf(kept)?.pciAddress === pciAddress;
  if (!isAttached && isUsed(pf)) return { ...nothing, before, problems: [usedProblem(pf, wanted.name, field)] };

  if (isHeldInLegacy(entry, pf, pfSteps) || observed.openVSwitch === undefined) return { ...nothing, before };
  return { ...nothing, before, after: setSteps(parsed.value, { pciAddress, bridge: wanted.name, kept, isAttached }) };
}

const nothing: LinuxBridgePlan = { before: [], after: [], problems: [], isBlocking: false };

/** Returns the problems of bridges that belong to no PF of the node. */
export function linuxBridgeProblems(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  const taken = (desired.bridges?.ovs ?? []).flatMap(({ uplinks = [] }) => uplinks.map(({ pciAddress }) => pciAddress));
  return uplinkProblems({ kind: "linux", code: "malformed-bridge", taken }, desired, observed);
}

/** Reports whether an owned bridge belongs to the PF. A bridge without an uplink is recognised by its name. */
function isOf({ name, uplinks = [] }: LinuxBridge, pciAddress: string): boolean {
  return name === bridgeNameOf(pciAddress) || uplinks.some((uplink) => uplink.pciAddress === pciAddress);
}

function keptProblem({ pciAddress, hostUse = [] }: InterfaceStatus, { name }: LinuxBridge): PlanProblem {
  const message = `bridge ${name} of ${pciAddress} cannot be removed, because the host uses it: ${hostUse.join(", ")}`;
  return { code: "used-by-host", field: "spec.bridges.linux", pciAddress, message };
}

interface SetContext {
  readonly pciAddress: string;
  readonly bridge: string;
  /** The bridge as it is. */
  readonly kept: LinuxBridge | undefined;
  readonly isAttached: boolean;
}

function setSteps({ vlans, port }: LinuxBridgeSettings, { kept, isAttached, ...which }: SetContext): readonly PfStep[] {
  const step = { kind: "set-linux-bridge", ...which, vlans, port } as const;
  if (kept === undefined) return [{ ...step, change: "create" }];
  const { vlanFiltering = false, vlanProtocol } = kept.bridge ?? {};
  if (vlanFiltering !== vlans.vlanFiltering || vlanProtocol !== vlans.vlanProtocol)
    return [{ ...step, change: "vlans" }];
  const now = observedPort(uplinkOf(kept)?.uplink);
  const isSame = Object.entries(port).every(([setting, value]) => now[setting] === value);
  return isAttached && isSame && kept.linkAdminState !== "down" ? [] : [{ ...step, change: "settings" }];
}
