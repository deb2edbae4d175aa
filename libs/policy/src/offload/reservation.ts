// SPDX-License-Identifier: Apache-2.0
/**
 * What a policy loses on a PF because its first VFs are reserved for the management ports of OVN-Kubernetes.
 * Usage: `const { vfs, problem } = unreservedVfs(policy, { nic, vfs: range, host });`
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { policyProblem, type PolicyProblem } from "../policy-problem.ts";
import { fromVf, type VfRange } from "../vfs/vf-range.ts";
import type { OffloadHost } from "./offload-host.ts";

/** What a policy requests on one PF of a host. */
interface VfRequest {
  readonly nic: InterfaceStatus;
  readonly vfs: VfRange;
  readonly host: OffloadHost | undefined;
}

/** The VFs that remain; undefined if none does. `problem` says why the policy's resource gets no VF of the PF. */
export interface UnreservedVfs {
  readonly vfs: VfRange | undefined;
  readonly problem?: PolicyProblem;
}

/**
 * Returns the VFs that the policy's resource gets. On the management PF, the first VFs are reserved. On all PFs of a host, their
 * resource gets no other VF: OVN-Kubernetes would take any of them.
 */
export function unreservedVfs(policy: SriovNetworkNodePolicy, { nic, vfs, host }: VfRequest): UnreservedVfs {
  if (host?.managementPf === undefined) return { vfs };
  const { resourceName } = policy.spec;
  const isManagementPf = host.managementPf === nic.pciAddress;
  const rest = isManagementPf ? fromVf(vfs, host.managementVfs) : vfs;
  if (resourceName !== "" && resourceName === host.managementResource) {
    if (rest === undefined) return { vfs: undefined }; // The reservation does what the policy requests.
    const message =
      `"${resourceName}" is the resource of the management port of OVN-Kubernetes on this node, ` +
      `so it gets no other VF of ${nic.pciAddress}: use another resourceName`;
    return { vfs: undefined, problem: policyProblem(policy, reserved("spec.resourceName", resourceName, message)) };
  }
  if (rest !== undefined) return { vfs: rest };
  const message =
    `${reservedVfs(host.managementVfs, ` of ${nic.pciAddress}`)}, ` +
    "and the policy selects no other VF of it, so its resource gets no VF of this PF: increase numVfs, or select other VFs";
  const { nicSelector } = policy.spec;
  return { vfs: undefined, problem: policyProblem(policy, reserved("spec.nicSelector", nicSelector, message)) };
}

/** "VF 0 of 0000:3b:00.0 is reserved for the management port of OVN-Kubernetes". */
export function reservedVfs(count: number, where: string): string {
  return count === 1
    ? `VF 0${where} is reserved for the management port of OVN-Kubernetes`
    : `VFs 0 to ${count - 1}${where} are reserved for the management ports of OVN-Kubernetes`;
}

function reserved(field: string, value: unknown, message: string) {
  return { code: "vf-reserved", field, value, message } as const;
}
