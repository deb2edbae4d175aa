// SPDX-License-Identifier: Apache-2.0
/**
 * What is wrong with a policy on a device: conflictingUse says why the device cannot be an AF_XDP device,
 * requestProblems what the device does not support. Of an externally managed device, it says what the device does not
 * have.
 */
import type { AfxdpNetworkNodePolicy } from "@switchyard/api";
import type { AfxdpDevice } from "./afxdp-device.ts";
import { afxdpProblem, type AfxdpProblem } from "./afxdp-problem.ts";
import { afxdpModeOf } from "./afxdp-rules.ts";

/**
 * Returns why the policy must not have the device; undefined if it may. Subfunctions that exist already do not disturb what
 * the host uses their device for.
 */
export function conflictingUse(policy: AfxdpNetworkNodePolicy, { hostUse, sriovUse }: AfxdpDevice): string | undefined {
  if (sriovUse !== undefined) return sriovUse;
  const onlyOffersSfs = policy.spec.externallyManaged === true && afxdpModeOf(policy) === "subfunction";
  if (hostUse.length === 0 || onlyOffersSfs) return undefined;
  return `the host uses it: ${hostUse.slice(0, maxUses).join(", ")}`.slice(0, maxUseLength);
}

/** A node can write any text into its status. */
const maxUses = 4;
const maxUseLength = 200;

/** What an administrator can do about a card of mlx5_core whose firmware has no subfunctions; empty for other drivers. */
export function subfunctionHint(device: string, driver: string | undefined): string {
  if (driver !== "mlx5_core") return "";
  const settings = "PF_BAR2_ENABLE=0 PER_PF_NUM_SF=1 PF_TOTAL_SF=64 PF_SF_BAR_SIZE=10";
  return `: enable them in its firmware with "mlxconfig -d ${device} set ${settings}", and switch the machine off and on`;
}

/** Returns what the policy requests of the device in vain. What is not known about the device is no problem. */
export function requestProblems(policy: AfxdpNetworkNodePolicy, { id, nic }: AfxdpDevice): readonly AfxdpProblem[] {
  const { numSfs = 0, mtu, queues, externallyManaged } = policy.spec;
  const problem = (code: "not-supported" | "not-provided", name: string, value: number, message: string) =>
    afxdpProblem(policy, { code, field: `spec.${name}`, value, message });
  const limits = [
    { name: "numSfs", what: "subfunctions", value: numSfs, most: nic.maxSfs },
    { name: "mtu", what: "an MTU", value: mtu ?? 0, most: nic.maxMtu },
    { name: "queues", what: "queues", value: queues ?? 0, most: nic.maxQueues },
  ].flatMap(({ name, what, value, most }) => {
    if (most === undefined || value <= most) return [];
    const request = what === "an MTU" ? `MTU ${value}` : `${value} ${what}`;
    const hint = name === "numSfs" ? subfunctionHint(id, nic.driver) : "";
    const limit = most === 0 ? `supports no ${what}${hint}` : `supports at most ${most}`;
    return [problem("not-supported", name, value, `${request} requested, but ${id} ${limit}`)];
  });
  if (externallyManaged !== true) return limits;
  const present = [
    { name: "numSfs", what: "subfunctions", value: numSfs, has: nic.numSfs },
    { name: "mtu", what: "MTU", value: mtu ?? 0, has: nic.mtu },
    { name: "queues", what: "queues", value: queues ?? 0, has: nic.queues },
  ].flatMap(({ name, what, value, has }) => {
    if (has === undefined || value <= has) return [];
    const [request, actual] = what === "MTU" ? [`MTU ${value}`, `MTU ${has}`] : [`${value} ${what}`, `${has}`];
    return [
      problem(
        "not-provided",
        name,
        value,
        `${request} requested, but ${id}, which is externally managed, has ${actual}`,
      ),
    ];
  });
  return [...limits, ...present];
}

/** Says which subfunctions may receive nothing: the card gives their packets to representors that nobody has connected. */
export function representorProblems(policy: AfxdpNetworkNodePolicy, { id, nic }: AfxdpDevice): readonly AfxdpProblem[] {
  if (afxdpModeOf(policy) !== "subfunction") return [];
  const names = (nic.subfunctions ?? [])
    .filter(({ owned }) => owned === true || policy.spec.externallyManaged === true)
    .flatMap(({ representor }) => (representor === undefined || representor.master ? [] : [representor.name]));
  const [first] = names;
  if (first === undefined) return [];
  const which =
    names.length === 1
      ? `the representor ${first} is a port`
      : `${names.length} representors, ${first} first, are ports`;
  const message =
    `${which} of no bridge on ${id}: without a bridge, Open vSwitch or tc between it and the port of the card, ` +
    "no packet from the wire reaches the subfunction";
  return [
    afxdpProblem(policy, {
      code: "representor-without-bridge",
      field: "spec.numSfs",
      value: policy.spec.numSfs,
      message,
    }),
  ];
}
