// SPDX-License-Identifier: Apache-2.0
/**
 * What a policy loses on a PF because VF 0 is reserved for the management port of OVN-Kubernetes.
 * Usage: `const { vfs, problem } = unreservedVfs(policy, { nic, vfs: range, host });`
 */
import type { InterfaceStatus, SriovNetworkNodePolicy } from "@switchyard/api";
import { policyProblem, type PolicyProblem } from "../policy-problem.ts";
import { fromVf, type VfRange } from "../vfs/vf-range.ts";
import { managementVf, type OffloadHost } from "./offload-host.ts";

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
 * Returns the VFs that the policy's resource gets. On the management PF, VF 0 is reserved. On all PFs of a host, the resource
 * of VF 0 gets no other VF: OVN-Kubernetes would take any of them.
 */
export function unreservedVfs(policy: SriovNetworkNodePolicy, { nic, vfs, host }: VfRequest): UnreservedVfs {
  if (host?.managementPf === undefined) return { vfs };
  const { resourceName } = policy.spec;
  const isManagementPf = host.managementPf === nic.pciAddress;
  const rest = isManagementPf ? fromVf(vfs, managementVf + 1) : vfs;
  if (resourceName !== "" && resourceName === host.managementResource) {
    if (rest === undefined) return { vfs: undefined }; // The reservation does what the policy requests.
    const message =
      `"${resourceName}" is the resource of the management port of OVN-Kubernetes on this node, ` +
      `so it gets no other VF of ${nic.pciAddress}: use another resourceName`;
    return { vfs: undefined, problem: policyProblem(policy, reserved("spec.resourceName", resourceName, message)) };
  }
  if (rest !== undefined) return { vfs: rest };
  const message =
    `VF ${managementVf} of ${nic.pciAddress} is reserved for the management port of OVN-Kubernetes, ` +
    "and the policy selects no other VF of it, so its resource gets no VF of this PF: increase numVfs, or select other VFs";
  const { nicSelector } = policy.spec;
  return { vfs: undefined, problem: policyProblem(policy, reserved("spec.nicSelector", nicSelector, message)) };
}

function reserved(field: string, value: unknown, message: string) {
  return { code: "vf-reserved", field, value, message } as const;
}
