// SPDX-License-Identifier: Apache-2.0
/**
 * ownDevices records the AF_XDP devices that Switchyard configures, with the subfunctions that are about to be created. The
 * record is written before the first change, so a daemon that is killed in between leaves nothing that has no record.
 * Usage: `const changed = await ownDevices(host, wanted, { found, steps });`
 */
import { defined, type AfxdpInterfaceSpec, type AfxdpInterfaceStatus } from "@switchyard/api";
import type { AfxdpRecord, Host } from "@switchyard/host";
import { deviceIdOf, type AfxdpStep } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { allNamesOf } from "../../observe/interface-status.ts";

export interface OwnDevicesContext {
  /** The devices as observed. */
  readonly found: readonly AfxdpInterfaceStatus[];
  /** The steps that are about to run. */
  readonly steps: readonly AfxdpStep[];
}

/**
 * Records the devices of `wanted` that the node has, and reports whether a device got its first record, so that the status shows
 * it as owned. The initial state is taken once. Rejects with HostError (ENOSPC, EROFS); nothing may be changed then.
 */
export async function ownDevices(
  { afxdpRecords }: Pick<Host, "afxdpRecords">,
  wanted: readonly AfxdpInterfaceSpec[],
  { found, steps }: OwnDevicesContext,
): Promise<boolean> {
  const records = await afxdpRecords.list();
  const byId = new Map(found.map((device) => [deviceIdOf(device), device]));
  let changed = false;
  for (const spec of wanted) {
    const id = deviceIdOf(spec);
    const device = byId.get(id);
    if (device === undefined) continue;
    const before = records.get(id);
    const record = recordOf(spec, device, { before, created: createdOn(id, steps) });
    if (isDeepStrictEqual(record, before)) continue;
    await afxdpRecords.save(id, record);
    changed ||= before?.spec.externallyManaged !== spec.externallyManaged || before === undefined;
  }
  return changed;
}

function createdOn(id: string, steps: readonly AfxdpStep[]): readonly number[] {
  return steps.flatMap((step) => (step.kind === "create-subfunction" && step.device === id ? [step.sfNumber] : []));
}

interface RecordContext {
  readonly before: AfxdpRecord | undefined;
  readonly created: readonly number[];
}

function recordOf(
  spec: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  { before, created }: RecordContext,
): AfxdpRecord {
  // If another tool configured the device until now, a reset must restore what that tool left.
  const isFirst = before === undefined || (before.spec.externallyManaged === true && spec.externallyManaged !== true);
  const { mtu, queues, eSwitchMode, subfunctions = [] } = device;
  const initial = isFirst ? defined({ mtu, queues, eSwitchMode }) : before.initial;
  // A number without a subfunction could be used by another program later.
  const present = subfunctions.filter(({ owned }) => owned === true).map(({ sfNumber }) => sfNumber);
  const numbers = [...new Set([...present, ...created])].sort((a, b) => a - b);
  const names = [...new Set([...allNamesOf(device), ...(before?.names ?? [])])].slice(0, maxNames);
  return { spec, ...defined({ initial }), ...(numbers.length > 0 && { subfunctions: numbers }), names };
}

/** The limit keeps the file small if something renames the device again and again. */
const maxNames = 16;
