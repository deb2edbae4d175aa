// SPDX-License-Identifier: Apache-2.0
/**
 * Describes a part of a spec that the node cannot satisfy. It is a value and not an error, because specs often ask for
 * more than a node has.
 */

/** One part of the spec that cannot be applied. The plan contains the steps for all other parts. */
export interface PlanProblem {
  readonly code:
    | "unknown-pf"
    | "unknown-device"
    | "no-sriov"
    | "no-driver"
    | "too-many-vfs"
    | "fewer-vfs"
    | "too-many-subfunctions"
    | "too-many-queues"
    | "mtu-too-large"
    | "malformed-range"
    | "range-beyond-vfs"
    | "external-mismatch"
    | "foreign-file"
    | "missing-module"
    | "firmware"
    | "card-mode"
    | "power-cycle-required"
    | "metadata"
    | "malformed-bridge"
    | "bridge-conflict"
    | "ovs-unavailable"
    | "unknown-boot-loader"
    | "no-iommu"
    | "no-pci-memory"
    | "reboot-without-effect"
    | "refused"
    | "rolled-back"
    | "missing-vfs"
    | "shared-iommu-group"
    | "missing-representor"
    | "missing-interface"
    | "udev-rules"
    | "used-by-host"
    | "not-booted"
    | "left-program"
    | "unsupported";
  /** Path of the field in the NodeState: "spec.interfaces[0].numVfs". */
  readonly field: string;
  /** Absent if the problem does not belong to a PF. */
  readonly pciAddress?: string;
  /** The requested value, the object, and the limit: "9 VFs requested, but 0000:01:00.0 supports at most 7". */
  readonly message: string;
}

/** Returns one line: "spec.interfaces[0].numVfs: 9 VFs requested, but 0000:01:00.0 supports at most 7". */
export function describeProblem(problem: PlanProblem): string {
  return `${problem.field}: ${problem.message}`;
}

/** Quotes text that was not validated, on one line and at most 64 characters of it. */
export function quote(text: string | undefined): string {
  return JSON.stringify((text ?? "").slice(0, 64));
}
