// SPDX-License-Identifier: Apache-2.0
/**
 * bpfmanDevices returns the devices of a node for which bpfman loads a program with loader bpfman. Pure.
 * Usage: `bpfmanDevices(state).map(({ device }) => device)` is for example ["0000:86:00.0"].
 */
import {
  isInterfaceName,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
} from "@switchyard/api";
import { deviceKey, poolSettingsOf, subfunctionKey } from "@switchyard/policy";

/** A device that needs a program. */
export interface BpfmanDevice {
  /** As in deviceKey and subfunctionKey. */
  readonly device: string;
  readonly poolName: string;
  /** Undefined while it is not in the network namespace of the node, so that bpfman cannot attach anything. */
  readonly interfaceName: string | undefined;
}

/** Sorted by device. Pools without socket and pinned map need no program. */
export function bpfmanDevices({
  spec,
  status,
}: Pick<AfxdpNetworkNodeState, "spec" | "status">): readonly BpfmanDevice[] {
  const pools = (spec?.pools ?? []).filter((pool) => {
    const { udsServer, bpfMapPinning } = poolSettingsOf({ spec: pool });
    return udsServer || bpfMapPinning;
  });
  return (spec?.interfaces ?? [])
    .filter(({ poolName, mode }) => pools.some((pool) => pool.name === poolName && pool.mode === mode))
    .flatMap((wanted) => devicesOf(wanted, status?.interfaces ?? []))
    .toSorted((a, b) => (a.device < b.device ? -1 : 1));
}

/**
 * Reports whether the device, for which bpfman has a program, may still belong to the spec although bpfmanDevices() does not
 * have it: a subfunction is not reported while the daemon creates it.
 */
export function mayReturn(device: string, { spec, status }: Pick<AfxdpNetworkNodeState, "spec" | "status">): boolean {
  const parent = (spec?.interfaces ?? []).find(
    (one) => one.mode === "subfunction" && device.startsWith(subfunctionKey(deviceKey(one), "")),
  );
  if (parent === undefined) return false;
  const existing = (observed(parent, status?.interfaces ?? [])?.subfunctions ?? []).filter(
    ({ poolName }) => poolName === parent.poolName,
  );
  return existing.length < (parent.numSfs ?? 0);
}

/** Reports whether the node has reported the device in its own network namespace, so that no pod has it. */
export function isDeviceOnHost(device: string, { status }: Pick<AfxdpNetworkNodeState, "status">): boolean {
  return (status?.interfaces ?? []).some((nic) => {
    const key = deviceKey(nic);
    const subfunctions = (nic.subfunctions ?? []).map(({ sfNumber, name }) => ({
      key: subfunctionKey(key, sfNumber),
      name,
    }));
    return [{ key, name: nic.name }, ...subfunctions].some((one) => one.key === device && one.name !== undefined);
  });
}

function devicesOf(wanted: AfxdpInterfaceSpec, interfaces: readonly AfxdpInterfaceStatus[]): readonly BpfmanDevice[] {
  const { mode, poolName } = wanted;
  const key = deviceKey(wanted);
  const nic = observed(wanted, interfaces);
  if (mode === "primary") return [{ device: key, poolName, interfaceName: checked(nic?.name) }];
  return (nic?.subfunctions ?? [])
    .filter((one) => one.poolName === poolName)
    .map(({ sfNumber, name }) => ({ device: subfunctionKey(key, sfNumber), poolName, interfaceName: checked(name) }));
}

/** The node reports the name, which becomes a part of an object for bpfman. */
function checked(name: string | undefined): string | undefined {
  return name !== undefined && isInterfaceName(name) ? name : undefined;
}

function observed(
  { pciAddress, name }: AfxdpInterfaceSpec,
  interfaces: readonly AfxdpInterfaceStatus[],
): AfxdpInterfaceStatus | undefined {
  return interfaces.find((nic) => nic.pciAddress === pciAddress && (pciAddress !== undefined || nic.name === name));
}
