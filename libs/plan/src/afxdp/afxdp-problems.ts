// SPDX-License-Identifier: Apache-2.0
/**
 * Describes what a device of an AfxdpNetworkNodeState cannot have: more than its driver supports or, if another tool manages
 * it, more than that tool provided.
 */
import type { AfxdpInterfaceSpec, AfxdpInterfaceStatus } from "@switchyard/api";
import { subfunctionHint } from "@switchyard/policy";
import type { PlanProblem } from "../problem.ts";
import { deviceIdOf, hasInterface } from "./device-use.ts";

/** One problem of a field of the entry. */
function problemOf(
  { pciAddress }: AfxdpInterfaceStatus,
  code: PlanProblem["code"],
  field: string,
  message: string,
): PlanProblem {
  return { code, field, ...(pciAddress && { pciAddress }), message };
}

/** What is not known about the device is no problem: the driver refuses the step if it must. */
export function limitProblems(
  { mode, numSfs = 0, mtu, queues }: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  field: string,
): readonly PlanProblem[] {
  const id = deviceIdOf(device);
  const { maxSfs, maxMtu, maxQueues, driver } = device;
  const problems: PlanProblem[] = [];
  if (driver !== undefined && !hasInterface(driver)) {
    const message = `${id} is bound to ${driver} and has no network interface: bind it to its driver of the kernel`;
    problems.push(problemOf(device, "missing-interface", field, message));
  }
  const foreign = (device.subfunctions ?? []).filter(({ owned }) => owned !== true).length;
  if (mode === "subfunction" && maxSfs !== undefined && numSfs + foreign > maxSfs) {
    const others = foreign === 0 ? "" : `, ${foreign} of which another program created`;
    const limit =
      maxSfs === 0 ? `supports none${subfunctionHint(id, device.driver)}` : `supports at most ${maxSfs}${others}`;
    const message =
      numSfs === 1
        ? `1 subfunction requested, but ${id} ${limit}`
        : `${numSfs} subfunctions requested, but ${id} ${limit}`;
    problems.push(problemOf(device, "too-many-subfunctions", `${field}.numSfs`, message));
  }
  if (mtu !== undefined && maxMtu !== undefined && mtu > maxMtu) {
    const message = `MTU ${mtu} requested, but ${id} supports at most ${maxMtu}`;
    problems.push(problemOf(device, "mtu-too-large", `${field}.mtu`, message));
  }
  if (mode === "primary" && queues !== undefined && maxQueues !== undefined && queues > maxQueues) {
    const message = `${queues} queues requested, but ${id} supports at most ${maxQueues}`;
    problems.push(problemOf(device, "too-many-queues", `${field}.queues`, message));
  }
  return problems;
}

/** Nothing is changed on an externally managed device, so what is missing is a problem. */
export function externalProblems(
  { mode, numSfs = 0, mtu = 0, queues = 0 }: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  field: string,
): readonly PlanProblem[] {
  const id = deviceIdOf(device);
  const { subfunctions = [] } = device;
  const problem = (name: string, message: string) =>
    problemOf(device, "external-mismatch", `${field}.${name}`, message);
  const problems: PlanProblem[] = [];
  if (mode === "subfunction" && subfunctions.length < numSfs) {
    const has = `${id}, which is externally managed, has ${subfunctions.length}`;
    const message =
      numSfs === 1 ? `1 subfunction requested, but ${has}` : `${numSfs} subfunctions requested, but ${has}`;
    problems.push(problem("numSfs", message));
  }
  const targets = mode === "primary" ? [{ ...device, text: id }] : subfunctions.map(ofSubfunction);
  const narrow = targets.find((target) => target.mtu !== undefined && target.mtu < mtu);
  if (narrow !== undefined) {
    const message = `MTU ${mtu} requested, but ${narrow.text}, which is externally managed, has MTU ${narrow.mtu ?? 0}`;
    problems.push(problem("mtu", message));
  }
  const small = targets.find((target) => target.queues !== undefined && target.queues < queues);
  if (small !== undefined) {
    const message = `${queues} queues requested, but ${small.text}, which is externally managed, has ${small.queues ?? 0}`;
    problems.push(problem("queues", message));
  }
  return problems;

  function ofSubfunction({ sfNumber, mtu: has, queues: hasQueues }: (typeof subfunctions)[number]) {
    return { mtu: has, queues: hasQueues, text: `subfunction ${sfNumber} of ${id}` };
  }
}

/** A device that cannot be an AF_XDP device. Nothing on it is changed. */
export function usedDeviceProblem(device: AfxdpInterfaceStatus, field: string, use: string): PlanProblem {
  return problemOf(device, "used-by-host", field, `${deviceIdOf(device)} is not changed: ${use}`);
}
