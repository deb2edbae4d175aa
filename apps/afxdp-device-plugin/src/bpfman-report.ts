// SPDX-License-Identifier: Apache-2.0
/** Releases our own XDP programs where bpfman loads its own, and reports what the operator has to know for that. */
import type { AfxdpBpfmanStatus, AfxdpLoadedProgram } from "@switchyard/api";
import type { PodDevices } from "@switchyard/kubelet";
import type { Logger } from "@switchyard/service";
import type { DeviceUsers } from "./device-users.ts";
import { needsProgram } from "./pools/node-pools.ts";
import type { PluginRecord } from "./record.ts";
import type { XdpDevices } from "./xdp-devices.ts";

export interface BpfmanReportInput {
  readonly record: PluginRecord;
  /** The programs of bpfman. */
  readonly programs: readonly AfxdpLoadedProgram[];
  /** Undefined if the kubelet did not answer. */
  readonly pods: readonly PodDevices[] | undefined;
  /** Names of the network interfaces in the network namespace of the node. */
  readonly inHost: { has(name: string): boolean };
}

export interface BpfmanReportDeps {
  readonly xdp: Pick<XdpDevices, "hasProgram" | "release">;
  readonly users: Pick<DeviceUsers, "mayBeUsed">;
  /** Runs after what else changes devices. */
  readonly inTurn: (act: () => Promise<void>) => Promise<void>;
  readonly log: Logger;
}

/**
 * Releases our own programs where no pod has the device, and returns the keys of the devices that are ready for programs of bpfman.
 * A device stays ready while a pod has it: then it is not in the network namespace of the node, but bpfman's program is on it.
 */
export async function releaseForBpfman(
  { record, programs, pods, inHost }: BpfmanReportInput,
  { xdp, users, inTurn, log }: BpfmanReportDeps,
): Promise<readonly string[]> {
  const ready: string[] = [];
  for (const { device } of inPools(record)) {
    const { key, name } = device;
    if (!inHost.has(name)) {
      if (programs.some((program) => program.device === key && program.programID !== undefined)) ready.push(key);
      continue;
    }
    await inTurn(async () => {
      if (!(await xdp.hasProgram(name))) ready.push(key);
      else if (!users.mayBeUsed(pods, device)) {
        await xdp.release(name);
        log.info({ device: name }, "program released, for that of bpfman");
        ready.push(key);
      }
    });
  }
  return ready.sort();
}

/** Returns the ids of the programs of bpfman that must be released and whose devices no pod has. */
export function releasedPrograms(
  { record, programs, pods }: Omit<BpfmanReportInput, "inHost">,
  users: Pick<DeviceUsers, "mayHaveDevice">,
): Required<AfxdpBpfmanStatus>["releasedPrograms"] {
  const isUsed = ({ device: key, interfaceName }: AfxdpLoadedProgram): boolean =>
    inPools(record).some(({ device, pool }) => device.key === key && users.mayHaveDevice(pods, device, pool)) ||
    record.retired.some(({ id, name }) => id === key || name === interfaceName);
  const released = programs.flatMap((program) =>
    program.release === true && program.programID !== undefined && pods !== undefined && !isUsed(program)
      ? [program.programID]
      : [],
  );
  return released.sort((a, b) => a - b);
}

function inPools({ pools }: PluginRecord) {
  return pools.filter(needsProgram).flatMap((pool) => pool.devices.map((device) => ({ device, pool })));
}
