// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the subfunctions of a device: which of Switchyard's own are created, repaired, configured and deleted. Subfunctions of
 * other tools are never changed, and their numbers are not used.
 */
import type { AfxdpInterfaceSpec, AfxdpInterfaceStatus, AfxdpSubfunctionStatus } from "@switchyard/api";
import type { AfxdpStep } from "./afxdp-step.ts";
import { isSubfunctionHeld, lacksInterface } from "./device-use.ts";

/** What a spec requests of subfunctions. */
export type SubfunctionRequest = Pick<AfxdpInterfaceSpec, "numSfs" | "mtu" | "queues" | "bridge">;

/**
 * Returns the steps in their order: deletions first, so that a device with all its subfunctions has room. Steps of one kind follow
 * each other, so that the daemon waits for the drivers of all subfunctions at the same time.
 */
export function planSubfunctions(
  device: string,
  { subfunctions = [] }: AfxdpInterfaceStatus,
  { numSfs = 0, mtu, queues, bridge }: SubfunctionRequest,
): readonly AfxdpStep[] {
  const own = subfunctions.filter(({ owned }) => owned === true).toSorted(compareForKeeping);
  const kept = own.slice(0, numSfs).toSorted((a, b) => a.sfNumber - b.sfNumber);
  const surplus = own.slice(numSfs).toSorted((a, b) => a.sfNumber - b.sfNumber);
  const taken = new Set(subfunctions.map(({ sfNumber }) => sfNumber));
  const created = freeNumbers(taken, numSfs - kept.length);
  const steps = [
    ...surplus.flatMap((one) => deletion(device, one)),
    ...kept.flatMap((one) => settings(device, one, { mtu, queues, bridge })),
    ...created.flatMap((sfNumber): readonly AfxdpStep[] => [
      { kind: "create-subfunction", device, sfNumber },
      { kind: "set-subfunction-mac", device, sfNumber },
      ...activation(device, sfNumber, { mtu, queues, bridge }),
    ]),
  ];
  return steps.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

const order: readonly AfxdpStep["kind"][] = [
  ...(["deactivate-subfunction", "delete-subfunction", "create-subfunction"] as const),
  ...(["set-subfunction-mac", "activate-subfunction", "set-representor", "set-mtu", "set-queues"] as const),
  "connect-representor",
];

/** Those that pods have come first, so that a smaller number disrupts as few pods as possible. */
function compareForKeeping(a: AfxdpSubfunctionStatus, b: AfxdpSubfunctionStatus): number {
  return Number(isSubfunctionHeld(b)) - Number(isSubfunctionHeld(a)) || a.sfNumber - b.sfNumber;
}

/** Returns the lowest numbers that are not taken. */
function freeNumbers(taken: ReadonlySet<number>, count: number): readonly number[] {
  const free: number[] = [];
  for (let sfNumber = 0; free.length < count; sfNumber++) if (!taken.has(sfNumber)) free.push(sfNumber);
  return free;
}

/** A subfunction can only be deleted while it is inactive. */
function deletion(device: string, { sfNumber, state }: AfxdpSubfunctionStatus): readonly AfxdpStep[] {
  const remove = { kind: "delete-subfunction", device, sfNumber } as const;
  return state === "inactive" ? [remove] : [{ kind: "deactivate-subfunction", device, sfNumber }, remove];
}

interface Settings {
  readonly mtu: number | undefined;
  readonly queues: number | undefined;
  /** Name of the bridge of the representor. */
  readonly bridge: string | undefined;
}

function settings(device: string, one: AfxdpSubfunctionStatus, wanted: Settings): readonly AfxdpStep[] {
  const { sfNumber, state, driver } = one;
  const needsMac = hasOtherMac(one);
  const activated: readonly AfxdpStep[] = [
    ...(needsMac ? [{ kind: "set-subfunction-mac", device, sfNumber } as const] : []),
    ...activation(device, sfNumber, wanted),
  ];
  if (state === "inactive") return activated;
  // A driver that failed on the device is tried again with a new device. Drivers take an address at an activation only, and a pod
  // keeps the subfunction that it has.
  if (driver === undefined || (needsMac && !isSubfunctionHeld(one))) {
    return [{ kind: "deactivate-subfunction", device, sfNumber }, ...activated];
  }
  // The driver has not created the interface: since Linux 6.5, mlx5_core does it only when it is told.
  if (lacksInterface(one)) return activation(device, sfNumber, wanted);
  return [...representorSettings(device, one, wanted), ...interfaceSettings({ device, sfNumber }, one, wanted)];
}

/** The representor of a subfunction that a pod has is set, too: it stays on the host. */
function representorSettings(
  device: string,
  { sfNumber, representor, mtu: own }: AfxdpSubfunctionStatus,
  { mtu = own, bridge }: Settings,
): readonly AfxdpStep[] {
  if (representor === undefined) return [];
  const { linkAdminState, mtu: present } = representor;
  const isLow = mtu !== undefined && present !== undefined && present < mtu;
  const steps: AfxdpStep[] = [];
  if (linkAdminState === "down" || isLow) {
    steps.push({ kind: "set-representor", device, sfNumber, ...(isLow && { mtu }) });
  }
  if (bridge !== undefined && representor.master !== bridge) {
    steps.push({ kind: "connect-representor", device, sfNumber, bridge });
  }
  return steps;
}

/** An address that is unknown is not changed. */
function hasOtherMac({ mac, assignedMac }: AfxdpSubfunctionStatus): boolean {
  return mac !== undefined && assignedMac !== undefined && mac !== assignedMac;
}

function activation(device: string, sfNumber: number, { mtu, queues, bridge }: Settings): readonly AfxdpStep[] {
  return [
    { kind: "activate-subfunction", device, sfNumber },
    { kind: "set-representor", device, sfNumber, ...(mtu !== undefined && { mtu }) },
    ...(mtu === undefined ? [] : [{ kind: "set-mtu", device, sfNumber, to: mtu } as const]),
    ...(queues === undefined ? [] : [{ kind: "set-queues", device, sfNumber, to: queues } as const]),
    ...(bridge === undefined ? [] : [{ kind: "connect-representor", device, sfNumber, bridge } as const]),
  ];
}

/** Returns the steps for settings that differ. A setting that is unknown is not changed. */
export function interfaceSettings(
  target: { readonly device: string; readonly sfNumber?: number },
  present: { readonly mtu?: number; readonly queues?: number },
  { mtu, queues }: Pick<Settings, "mtu" | "queues">,
): readonly AfxdpStep[] {
  const steps: AfxdpStep[] = [];
  if (mtu !== undefined && present.mtu !== undefined && mtu !== present.mtu) {
    steps.push({ kind: "set-mtu", ...target, from: present.mtu, to: mtu });
  }
  if (queues !== undefined && present.queues !== undefined && queues !== present.queues) {
    steps.push({ kind: "set-queues", ...target, from: present.queues, to: queues });
  }
  return steps;
}
