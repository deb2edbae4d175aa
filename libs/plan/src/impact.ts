// SPDX-License-Identifier: Apache-2.0
/**
 * Reports which steps disrupt pods, and why. Only a step that takes a VF away from a pod, or interrupts it, needs a drain.
 * Creating the first VFs of a PF disrupts no pod (sriov-operator.md F.5).
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { PfStep } from "./step.ts";

/** What a plan does to the pods of the node, from harmless to most disruptive. */
export type Impact = "none" | "drain" | "reboot";

/** Why a plan has its impact. */
export interface Reason {
  /** Field of the NodeState that causes it: "spec.interfaces[0].numVfs", or "spec.unselected" for a PF that no policy selects. */
  readonly field: string;
  readonly pciAddress: string;
  /** A sentence for a person. */
  readonly text: string;
}

/** The fields of the NodeState that describe one PF. */
export interface PfFields {
  readonly numVfs: string;
  readonly mtu: string;
  readonly vfGroups: string;
}

/** The fields of the entry at `index` of spec.interfaces. */
export function fieldsOfInterface(index: number): PfFields {
  const entry = `spec.interfaces[${index}]`;
  return { numVfs: `${entry}.numVfs`, mtu: `${entry}.mtu`, vfGroups: `${entry}.vfGroups` };
}

/** A PF that is reset has no entry in spec.interfaces: spec.unselected causes all of its steps. */
export const fieldsOfUnselected: PfFields = {
  numVfs: "spec.unselected",
  mtu: "spec.unselected",
  vfGroups: "spec.unselected",
};

/** The reason for a drain, or undefined if the step disrupts no pod. */
export function drainReason(step: PfStep, pf: InterfaceStatus, fields: PfFields): Reason | undefined {
  const { pciAddress } = pf;
  const existing = pf.numVfs ?? 0;
  switch (step.kind) {
    case "set-num-vfs":
      if (step.from === 0) return undefined;
      return {
        field: fields.numVfs,
        pciAddress,
        text: `${pciAddress}: changing numVfs from ${step.from} to ${step.to} removes ${existingVfs(step.from)}`,
      };
    case "set-pf-mtu":
      // Drivers reset the port to change the MTU, and the VFs lose their link for a second or more (igb on 6.12: 1.5 s).
      if (existing === 0) return undefined;
      return {
        field: fields.mtu,
        pciAddress,
        text: `${pciAddress}: changing the MTU from ${step.from} to ${step.to} interrupts the link of ${existingVfs(existing)}`,
      };
    case "bind-driver":
      if (step.from === undefined) return undefined;
      return {
        field: fields.vfGroups,
        pciAddress,
        text: `${pciAddress}: VF ${step.vfId} changes its driver from ${step.from} to ${step.to === "default" ? "its kernel driver" : step.to}`,
      };
    case "set-vf-mac":
      if (step.rebind !== true || !(pf.Vfs ?? []).some((vf) => vf.vfID === step.vfId)) return undefined;
      return {
        field: fields.vfGroups,
        pciAddress,
        text: `${pciAddress}: VF ${step.vfId} is unbound from its driver and bound again, because its MAC address changes`,
      };
    // No pod uses a VF whose network interface is visible on the host.
    case "set-vf-mtu":
    case "set-link-up":
    case "release-pf":
      return undefined;
  }
}

function existingVfs(count: number): string {
  return count === 1 ? "the existing VF" : `the ${count} existing VFs`;
}
