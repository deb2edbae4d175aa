// SPDX-License-Identifier: Apache-2.0
/**
 * ownDevices records the AF_XDP devices that Switchyard configures, with the subfunctions that are about to be created and the MAC
 * addresses that they get. The record is written before the first change, so a daemon that is killed in between leaves nothing that
 * has no record.
 */
import {
  defined,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpSubfunctionStatus,
} from "@switchyard/api";
import type { AfxdpRecord, Host } from "@switchyard/host";
import { deviceIdOf, type AfxdpStep } from "@switchyard/plan";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { chooseMacs, type RandomBytes } from "../../addresses/choose-macs.ts";
import { cardOf, describeCard } from "../../observe/same-card.ts";
import { allNamesOf } from "../../observe/interface-status.ts";

export interface OwnDevicesContext {
  /** The devices as observed. */
  readonly found: readonly AfxdpInterfaceStatus[];
  /** The steps that are about to run. */
  readonly steps: readonly AfxdpStep[];
  /** From node:crypto by default. */
  readonly random?: RandomBytes | undefined;
}

/**
 * Records the devices of `wanted` that the node has, and reports whether the status shows other records now: a device got its
 * first one, or a subfunction that exists got an address. The initial state is taken once. Rejects with HostError (ENOSPC, EROFS);
 * nothing may be changed then.
 */
export async function ownDevices(
  { afxdpRecords }: Pick<Host, "afxdpRecords">,
  wanted: readonly AfxdpInterfaceSpec[],
  { found, steps, random = randomBytes }: OwnDevicesContext,
): Promise<boolean> {
  const records = await afxdpRecords.list();
  const taken = new Set([
    ...found.flatMap(macsOf),
    ...[...records.values()].flatMap(({ macs }) => Object.values(macs ?? {})),
  ]);
  const byId = new Map(found.map((device) => [deviceIdOf(device), device]));
  let changed = false;
  for (const spec of wanted) {
    const id = deviceIdOf(spec);
    const device = byId.get(id);
    if (device === undefined) continue;
    const before = records.get(id);
    const record = recordOf(spec, device, { existing: before, created: createdOn(id, steps), taken, random });
    if (isDeepStrictEqual(record, before)) continue;
    await afxdpRecords.save(id, record);
    changed ||= before?.spec.externallyManaged !== spec.externallyManaged || device.owned !== true;
    changed ||= ownOf(device).some(({ sfNumber }) => record.macs?.[sfNumber] !== before?.macs?.[sfNumber]);
  }
  return changed;
}

function macsOf({ mac, subfunctions = [] }: AfxdpInterfaceStatus): readonly string[] {
  return [mac, ...subfunctions.map((one) => one.mac)].filter((each) => each !== undefined);
}

function ownOf({ subfunctions = [] }: AfxdpInterfaceStatus): readonly AfxdpSubfunctionStatus[] {
  return subfunctions.filter(({ owned }) => owned === true);
}

function createdOn(id: string, steps: readonly AfxdpStep[]): readonly number[] {
  return steps.flatMap((step) => (step.kind === "create-subfunction" && step.device === id ? [step.sfNumber] : []));
}

interface RecordContext {
  readonly existing: AfxdpRecord | undefined;
  readonly created: readonly number[];
  readonly taken: Set<string>;
  readonly random: RandomBytes;
}

function recordOf(
  spec: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  { existing, created, taken, random }: RecordContext,
): AfxdpRecord {
  // A device is not owned if its record is that of another card, which was in its slot before.
  const before = device.owned === true ? existing : undefined;
  const replacedCard = before === undefined ? existing && describeCard(existing) : before.replacedCard;
  // If another tool configured the device until now, a reset must restore what that tool left.
  const isFirst = before === undefined || (before.spec.externallyManaged === true && spec.externallyManaged !== true);
  const { mtu, queues, eSwitchMode } = device;
  const initial = isFirst ? defined({ mtu, queues, eSwitchMode }) : before.initial;
  // A number without a subfunction could be used by another program later.
  const own = ownOf(device);
  const numbers = [...new Set([...own.map(({ sfNumber }) => sfNumber), ...created])].sort((a, b) => a - b);
  const presentMacs = new Map(own.map(({ sfNumber, mac = "" }) => [sfNumber, mac]));
  const macs = chooseMacs(numbers, { recorded: before?.macs, present: presentMacs, taken, random });
  const names = [...new Set([...allNamesOf(device), ...(before?.names ?? [])])].slice(0, maxNames);
  return {
    spec,
    ...defined({ initial }),
    ...(numbers.length > 0 && { subfunctions: numbers, macs }),
    names,
    ...cardFields(device, before),
    ...defined({ replacedCard }),
  };
}

/** A pod hides the permanent address of its device. */
function cardFields({ pciAddress, vendor, deviceID, permanentMac }: AfxdpInterfaceStatus, before?: AfxdpRecord) {
  if (pciAddress === undefined || vendor === undefined || deviceID === undefined) return {};
  return {
    card: cardOf({ vendor, deviceId: deviceID }),
    ...defined({ permanentMac: permanentMac ?? before?.permanentMac }),
  };
}

/** The limit keeps the file small if something renames the device again and again. */
const maxNames = 16;
