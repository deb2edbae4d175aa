// SPDX-License-Identifier: Apache-2.0
/**
 * Whom a step disturbs. Only what takes a VF from a pod needs a drain; the first VFs of a PF disturb nobody (F.5).
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PfStep } from "./step.ts";

/** What a plan does to the node's pods, from harmless to grave. */
export type Impact = "none" | "drain" | "reboot";

/** Why the impact is what it is. */
export interface Reason {
  /** Where in the NodeState the cause stands: "spec.interfaces[0].numVfs"; "spec.unselected" for a PF that no policy selects. */
  readonly field: string;
  readonly pciAddress: string;
  /** A sentence for a person. */
  readonly text: string;
}

/** The reason for a drain, or undefined where the step disturbs no pod. `field` is the PF's place in the spec. */
export function drainReason(step: PfStep, pf: InterfaceStatus, field: string): Reason | undefined {
  const { pciAddress } = pf;
  const existing = pf.numVfs ?? 0;
  switch (step.kind) {
    case "set-num-vfs":
      if (step.from === 0) return undefined;
      return {
        field: `${field}.numVfs`,
        pciAddress,
        text: `${pciAddress}: ${step.from} -> ${step.to} VFs removes the ${step.from} that exist`,
      };
    case "set-pf-mtu":
      // Drivers reset the port for it, and its VFs lose their link for a second or more (igb on 6.12: 1.5 s).
      if (existing === 0) return undefined;
      return {
        field: `${field}.mtu`,
        pciAddress,
        text: `${pciAddress}: mtu ${step.from} -> ${step.to} interrupts the link of its ${existing} VFs`,
      };
    case "bind-driver":
      if (step.from === undefined) return undefined;
      return {
        field: `${field}.vfGroups`,
        pciAddress,
        text: `${pciAddress}: VF ${step.vfId} moves from ${step.from} to ${step.to === "default" ? "its kernel driver" : step.to}`,
      };
    case "set-vf-mac":
      if (step.rebind !== true || !(pf.Vfs ?? []).some((vf) => vf.vfID === step.vfId)) return undefined;
      return {
        field: `${field}.vfGroups`,
        pciAddress,
        text: `${pciAddress}: VF ${step.vfId} gets its driver anew, as its MAC address changes`,
      };
    // A VF whose interface the host sees is in no pod.
    case "set-vf-mtu":
    case "set-link-up":
    case "release-pf":
      return undefined;
  }
}
