// SPDX-License-Identifier: Apache-2.0
/**
 * mergeAfxdpPolicies merges the AF_XDP policies that select a node into the spec of its AfxdpNetworkNodeState
 * (eve-and-afxdp.md b4). Each device belongs to at most one policy, and so to one pool and one mode.
 * Usage: `const { spec, problems } = mergeAfxdpPolicies(node, afxdpDevices(status), createAfxdpRules({ policies }));`
 */
import {
  defined,
  type AfxdpInterfaceSpec,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpPoolSpec,
  type AfxdpProvider,
  type Node,
} from "@switchyard/api";
import { compareText } from "../order.ts";
import { describeNearest, nearestNic } from "../nics/selection-report.ts";
import { hasLabels, labelsOf } from "../nodes/label-selector.ts";
import type { AfxdpDevice } from "./afxdp-device.ts";
import { couldMatchDevice, fieldNaming, isEmptyAfxdpSelector, matchesDevice } from "./afxdp-nic-selector.ts";
import { poolProblems } from "./afxdp-pools.ts";
import { afxdpProblem, type AfxdpProblem } from "./afxdp-problem.ts";
import { afxdpModeOf, poolSettingsOf, type AfxdpRules } from "./afxdp-rules.ts";
import { conflictingUse, representorProblems, requestProblems } from "./device-problems.ts";
import { upstreamDeviceProblem, upstreamIgnored, upstreamPoolProblems } from "./provider-problems.ts";

/** Where a policy is applied on a node. */
export interface AfxdpMatch {
  readonly policyName: string;
  /** The devices that the policy has: PCI addresses, or names of devices without one. By ascending id. */
  readonly devices: readonly string[];
}

/** Result of merging the policies of a node. */
export interface MergedAfxdpNode {
  /** Spec of the node state, without empty lists; `{}` if no policy applies. */
  readonly spec: AfxdpNetworkNodeStateSpec;
  /** Problems of the policies on this node, from the highest to the lowest priority. */
  readonly problems: readonly AfxdpProblem[];
  /** One entry for each policy that selects the node, from the highest to the lowest priority. */
  readonly matches: readonly AfxdpMatch[];
}

/**
 * Merges the policies that select the node, from the highest to the lowest priority: each takes the matching devices that
 * are left. With maxDevices, it keeps those that it has: another choice would take a device from a pod for no reason. An invalid policy takes none, so those of lower priority get them. Devices that the host or SR-IOV policies use
 * are left out.
 *
 * A device that Switchyard has configured and that no policy has is listed in spec.unselected, so that the node resets it.
 * It is not listed while a policy could still select it, because the policy is invalid or because its name or another property
 * is unknown, and not while the host uses it.
 */
export function mergeAfxdpPolicies(node: Node, devices: readonly AfxdpDevice[], rules: AfxdpRules): MergedAfxdpNode {
  const selecting = afxdpPoliciesSelecting(node, rules);
  const takenBy = new Map<AfxdpDevice, AfxdpNetworkNodePolicy>();
  const pools: AfxdpPoolSpec[] = [];
  const problems: AfxdpProblem[] = [];
  const invalid: AfxdpNetworkNodePolicy[] = [];
  const names = new Set(selecting.map(({ metadata }) => metadata.name));
  const matches = selecting.map((policy): AfxdpMatch => {
    const own = takeDevices(policy, { devices, takenBy, pools, provider: rules.provider, names });
    problems.push(...own.problems);
    if (!own.isValid) invalid.push(policy);
    for (const device of own.devices) takenBy.set(device, policy);
    const pool = poolOf(policy);
    if (own.devices.length > 0 && !pools.some(({ name }) => name === pool.name)) pools.push(pool);
    return { policyName: policy.metadata.name, devices: own.devices.map(({ id }) => id) };
  });
  const interfaces = devices.flatMap((device) => {
    const policy = takenBy.get(device);
    return policy === undefined ? [] : [interfaceSpec(device, policy)];
  });
  const unselected = devices
    .filter(
      (device) => device.reported.owned === true && !takenBy.has(device) && isUnwanted(device, { selecting, invalid }),
    )
    .map(({ id }) => id);
  return {
    spec: {
      ...(interfaces.length > 0 && { interfaces }),
      ...(pools.length > 0 && { pools: pools.toSorted((a, b) => compareText(a.name, b.name)) }),
      ...(unselected.length > 0 && { unselected }),
    },
    problems,
    matches,
  };
}

/** Returns the policies whose nodeSelector selects the node, from the highest to the lowest priority. */
function afxdpPoliciesSelecting(node: Node, rules: AfxdpRules): readonly AfxdpNetworkNodePolicy[] {
  const labels = labelsOf(node);
  return rules.policies.filter(({ spec }) => hasLabels(labels, spec.nodeSelector));
}

/** Returns the problems that the policy has on every node, because of which it is not applied. */
export function afxdpPolicyProblems(policy: AfxdpNetworkNodePolicy, provider: AfxdpProvider): readonly AfxdpProblem[] {
  const { nicSelector, deviceType = "netdev" } = policy.spec;
  const problems: AfxdpProblem[] = [];
  if (isEmptyAfxdpSelector(nicSelector)) {
    const message =
      "matches no device: set at least one of vendor, deviceID, driver, rootDevices, pfNames and macAddresses";
    problems.push(
      afxdpProblem(policy, { code: "empty-nic-selector", field: "spec.nicSelector", value: nicSelector, message }),
    );
  }
  if (deviceType !== "netdev") {
    const message = "must be netdev or omitted: AF_XDP uses the network driver of the kernel";
    problems.push(afxdpProblem(policy, { code: "device-type", field: "spec.deviceType", value: deviceType, message }));
  }
  if (provider === "upstream") {
    for (const { field, ...problem } of upstreamPoolProblems(poolOf(policy))) {
      problems.push(afxdpProblem(policy, { code: "provider-cannot", field: `spec.${field}`, ...problem }));
    }
  }
  return problems;
}

/** The node reports such a device in the status of the pool. */
function offerProblems(
  policy: AfxdpNetworkNodePolicy,
  device: AfxdpDevice,
  provider: AfxdpProvider,
): readonly AfxdpProblem[] {
  const why = provider === "upstream" ? upstreamDeviceProblem(device.reported) : undefined;
  if (why === undefined) return [];
  const field = fieldNaming(policy.spec.nicSelector, device.nic) ?? "spec.nicSelector";
  const message = `${describeDevice(device)} is not offered: ${why}`;
  return [afxdpProblem(policy, { code: "provider-leaves-out", field, value: device.id, message })];
}

interface Taken {
  /** False if the policy cannot be applied on this node. */
  readonly isValid: boolean;
  readonly devices: readonly AfxdpDevice[];
  readonly problems: readonly AfxdpProblem[];
}

/** What the policies of higher priority have taken. */
interface Sources {
  readonly devices: readonly AfxdpDevice[];
  readonly takenBy: ReadonlyMap<AfxdpDevice, AfxdpNetworkNodePolicy>;
  readonly pools: readonly AfxdpPoolSpec[];
  readonly provider: AfxdpProvider;
  /** Names of the policies that select the node. */
  readonly names: ReadonlySet<string>;
}

function takeDevices(policy: AfxdpNetworkNodePolicy, sources: Sources): Taken {
  const { devices, takenBy, pools, provider, names } = sources;
  const fatal = [...afxdpPolicyProblems(policy, provider), ...poolProblems(policy, poolOf(policy), pools)];
  if (fatal.length > 0) return { isValid: false, devices: [], problems: fatal };
  const { nicSelector, maxDevices = Infinity } = policy.spec;
  const ignored = provider === "upstream" ? upstreamIgnored(poolOf(policy)) : undefined;
  const problems =
    ignored === undefined
      ? []
      : [afxdpProblem(policy, { code: "provider-ignores", field: "spec.udsServer", ...ignored })];
  const own: AfxdpDevice[] = [];
  const matching = devices.filter(({ nic }) => matchesDevice(nicSelector, nic));
  const preferred = matching.toSorted((a, b) => rankOf(a, policy, names) - rankOf(b, policy, names));
  for (const device of preferred) {
    const owner = takenBy.get(device);
    const use = conflictingUse(policy, device);
    if (owner !== undefined || use !== undefined) {
      problems.push(...leftOut(policy, device, use ?? `policy ${owner?.metadata.name} takes precedence`));
    } else if (own.length < maxDevices) {
      own.push(device);
      problems.push(...requestProblems(policy, device), ...offerProblems(policy, device, provider));
      problems.push(...representorProblems(policy, device));
    }
  }
  if (own.length === 0 && devices.length > 0 && problems.length === 0) problems.push(noDevice(policy, devices));
  return { isValid: true, devices: devices.filter((device) => own.includes(device)), problems };
}

/** The order in which a policy takes devices, which maxDevices cuts off. Devices of the same rank are taken by ascending id. */
function rankOf(
  { assigned, reported }: AfxdpDevice,
  { metadata, spec }: AfxdpNetworkNodePolicy,
  names: ReadonlySet<string>,
): number {
  // A policy that was renamed keeps the devices of its pool.
  const isRenamed =
    assigned !== undefined && !names.has(assigned.policyName ?? "") && assigned.poolName === spec.poolName;
  if (assigned?.policyName === metadata.name || isRenamed) return 0;
  if (assigned !== undefined) return 3; // another policy has it
  // Without a spec, Switchyard's records tell which devices were in use.
  return reported.owned === true ? 1 : 2;
}

function leftOut(policy: AfxdpNetworkNodePolicy, device: AfxdpDevice, why: string): readonly AfxdpProblem[] {
  const field = fieldNaming(policy.spec.nicSelector, device.nic);
  const isTaken = conflictingUse(policy, device) === undefined;
  const code = isTaken ? "device-taken" : field === undefined ? "device-left-out" : "device-in-use";
  // A selector by vendor or driver means the devices that are left.
  if (isTaken && field === undefined) return [];
  const message = `${describeDevice(device)} is not offered: ${why}`;
  return [afxdpProblem(policy, { code, field: field ?? "spec.nicSelector", value: device.id, message })];
}

function noDevice(policy: AfxdpNetworkNodePolicy, devices: readonly AfxdpDevice[]): AfxdpProblem {
  const { nicSelector: value } = policy.spec;
  const more = devices.length - maxListedDevices;
  const nearest = nearestNic(
    value,
    devices.map(({ nic }) => nic),
  );
  const near = nearest === undefined ? "" : `; nearest match: ${describeNearest(nearest)}`;
  const listed = devices.slice(0, maxListedDevices).map(describeDevice).join(", ");
  const message = devices.some(({ nic }) => matchesDevice(value, nic))
    ? "policies of higher priority have all devices that it matches: correct nicSelector or priority"
    : `matches no device of the node; its devices are ${listed}${more > 0 ? ` and ${more} more` : ""}${near}: ` +
      "correct nicSelector or narrow nodeSelector";
  return afxdpProblem(policy, { code: "no-device", field: "spec.nicSelector", value, message });
}

const maxListedDevices = 16;

/** "ens1f0 (0000:3b:00.0)". A node can write any text into its status, so it is cut. */
function describeDevice({ id, nic: { name = "" } }: AfxdpDevice): string {
  return (name === "" || name === id ? id : `${name} (${id})`).slice(0, maxDeviceLength);
}

const maxDeviceLength = 64;

function poolOf(policy: AfxdpNetworkNodePolicy): AfxdpPoolSpec {
  return { name: policy.spec.poolName, mode: afxdpModeOf(policy), ...poolSettingsOf(policy) };
}

function interfaceSpec({ nic, reported }: AfxdpDevice, policy: AfxdpNetworkNodePolicy): AfxdpInterfaceSpec {
  const { poolName, mtu, queues, numSfs, bridge, externallyManaged } = policy.spec;
  const mode = afxdpModeOf(policy);
  const name = reported.name ?? nic.name;
  return {
    ...defined({ pciAddress: reported.pciAddress, name }),
    mode,
    poolName,
    policyName: policy.metadata.name,
    ...defined({ mtu, queues }),
    ...(mode === "subfunction" && { numSfs: numSfs ?? 0, ...defined({ bridge }) }),
    ...(externallyManaged === true && { externallyManaged }),
  };
}

/** Reports whether it is certain that no policy has the device, and that the host does not use it. */
function isUnwanted({ nic, reported, hostUse, sriovUse }: AfxdpDevice, { selecting, invalid }: Candidates): boolean {
  if (hostUse.length > 0) return false;
  if (sriovUse !== undefined) return true;
  return !selecting.some((policy) => {
    const { nicSelector } = policy.spec;
    return (invalid.includes(policy) || !matchesDevice(nicSelector, nic)) && couldMatchDevice(nicSelector, reported);
  });
}

/** Policies that select the node, and those of them that cannot be applied. */
interface Candidates {
  readonly selecting: readonly AfxdpNetworkNodePolicy[];
  readonly invalid: readonly AfxdpNetworkNodePolicy[];
}
