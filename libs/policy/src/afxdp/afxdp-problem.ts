// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpProblem describes what is wrong with an AfxdpNetworkNodePolicy on a node. Problems are values, not errors: an invalid
 * policy must not stop the others.
 * Usage: `afxdpProblem(policy, { code: "no-device", field: "spec.nicSelector", value, message })`.
 */
import type { AfxdpNetworkNodePolicy } from "@switchyard/api";

/** All codes with their severity. A policy with an error is not applied to some or all devices; a warning has no such effect. */
const severities = {
  /** nicSelector has no field. The policy is not applied. */
  "empty-nic-selector": "error",
  /** deviceType is not netdev. The policy is not applied. */
  "device-type": "error",
  /** Two pools of the node have names that differ only in case. The policy of lower priority is not applied. */
  "pool-name-collides": "error",
  /** A policy of higher priority gives the pool another mode. The policy of lower priority is not applied. */
  "pool-mode-differs": "error",
  /** A policy of higher priority gives the pool another setting. The policy of lower priority is not applied. */
  "pool-setting-differs": "error",
  /** The device plugin of the provider cannot apply a setting. The policy is not applied. */
  "provider-cannot": "error",
  /** A setting has no effect on the device plugin of the provider. */
  "provider-ignores": "warning",
  /** The device plugin of the provider leaves out a device that the policy selects. */
  "provider-leaves-out": "warning",
  /** The policy names a device that cannot be an AF_XDP device. It is not applied to this device. */
  "device-in-use": "error",
  /** The policy matches a device, without naming it, that cannot be an AF_XDP device. It is not applied to this device. */
  "device-left-out": "warning",
  /** A policy of higher priority has taken a device that the policy names. */
  "device-taken": "warning",
  /** The device does not support what the policy requests. The node reports what it could not configure. */
  "not-supported": "error",
  /** The device is externally managed and does not have what the policy requests. */
  "not-provided": "error",
  /** Representors of subfunctions are ports of no bridge, so that packets from the wire may not reach the subfunctions. */
  "representor-without-bridge": "warning",
  /** The policy selects the node, but none of its devices. */
  "no-device": "warning",
} as const;

/** Code of a problem. */
export type AfxdpProblemCode = keyof typeof severities;

/** One problem of one policy. */
export interface AfxdpProblem {
  readonly policyName: string;
  readonly code: AfxdpProblemCode;
  readonly severity: "error" | "warning";
  /** Path in the policy: "spec.numSfs". */
  readonly field: string;
  readonly value: unknown;
  /** What is wrong and what to do. Does not name the policy and the field. */
  readonly message: string;
}

/** Returns a problem of the policy. */
export function afxdpProblem(
  policy: AfxdpNetworkNodePolicy,
  problem: Pick<AfxdpProblem, "code" | "field" | "value" | "message">,
): AfxdpProblem {
  return { policyName: policy.metadata.name, severity: severities[problem.code], ...problem };
}
