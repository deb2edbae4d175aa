// SPDX-License-Identifier: Apache-2.0
/**
 * Ports of devlink instances, and subfunctions, which are ports that can be created (linux/devlink.h; for subfunctions,
 * Documentation/networking/devlink/devlink-port.rst).
 * Usage: `const family = await resolveFamily(socket, devlinkFamily); await listDevlinkPorts(family)`.
 */
import { dumpGeneric, requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import {
  bytes,
  find,
  findNested,
  formatHardwareAddress,
  nested,
  parseHardwareAddress,
  readText,
  readU16,
  readU32,
  u16,
  u32,
  type Attribute,
} from "../wire/attributes.ts";
import { encodeHandle, readHandle, type DevlinkHandle } from "./devlink.ts";

/** A port of a devlink instance. */
export interface DevlinkPort {
  readonly handle: DevlinkHandle;
  readonly index: number;
  /** Absent for flavours that this library does not use. */
  readonly flavour?: "physical" | "pcipf" | "pcivf" | "virtual" | "pcisf";
  /** Network interface of the port: for a subfunction, its representor. Absent while there is none in this namespace. */
  readonly netdev?: { readonly index: number; readonly name: string };
  /** Number of a physical port on its card. */
  readonly portNumber?: number;
  /** Number of the PF that the port belongs to. Physical ports have none. */
  readonly pfNumber?: number;
  /** Number of the subfunction (sfnum). */
  readonly sfNumber?: number;
  /** Whether the function belongs to another host, as on a SmartNIC. */
  readonly isExternal: boolean;
  /** The function behind the port, for flavours that have one. */
  readonly function?: DevlinkPortFunction;
}

export interface DevlinkPortFunction {
  /** Lower-case hexadecimal bytes with colons; zeros while the driver has not chosen an address. */
  readonly address?: string;
  /** What was requested. */
  readonly state?: "inactive" | "active";
  /** Whether a driver uses the function now. */
  readonly operationalState?: "detached" | "attached";
  /** Instance of the function: "auxiliary", "mlx5_core.sf.4". Since Linux 6.7; absent while no driver is bound. */
  readonly instance?: DevlinkHandle;
}

/** A port by its instance and index. */
export type DevlinkPortHandle = Pick<DevlinkPort, "handle" | "index">;

const commands = { portGet: 5, portSet: 6, portNew: 7, portDelete: 8 };
const attributes = {
  index: 3,
  netdevIndex: 6,
  netdevName: 7,
  flavour: 77,
  portNumber: 78,
  pfNumber: 127,
  function: 145,
  external: 149,
  sfNumber: 164,
};
const functionAttributes = { address: 1, state: 2, operationalState: 3, instance: 5 };
const flavours: readonly DevlinkPort["flavour"][] = [
  ...(["physical", undefined, undefined, "pcipf", "pcivf", "virtual", undefined, "pcisf"] as const),
];
const pcisf = 7;
const states = ["inactive", "active"] as const;
const operationalStates = ["detached", "attached"] as const;

/** `devlink port show`: returns the ports of all instances. Rejects with NetlinkError. */
export async function listDevlinkPorts(family: GenericFamily): Promise<readonly DevlinkPort[]> {
  const request = { tried: "list devlink ports", command: commands.portGet, attributes: [] };
  return (await dumpGeneric(family, request)).map(parsePort);
}

/** A new subfunction. */
export interface NewSubfunction {
  /** Must be the number that the driver has for the PF, which is that of its port with most drivers. */
  readonly pfNumber: number;
  readonly sfNumber: number;
}

/**
 * `devlink port add BUS/DEVICE flavour pcisf pfnum PF sfnum SF`: creates an inactive subfunction and returns its port. The driver
 * refuses a number that is in use (EBUSY or EEXIST), a wrong PF number, and a subfunction too many.
 */
export async function addSubfunctionPort(
  family: GenericFamily,
  handle: DevlinkHandle,
  { pfNumber, sfNumber }: NewSubfunction,
): Promise<DevlinkPort> {
  const tried = `add subfunction ${sfNumber} to ${nameOf(handle)}`;
  const [answer] = await requestGeneric(family, {
    tried,
    command: commands.portNew,
    attributes: [
      ...encodeHandle(handle),
      u16(attributes.flavour, pcisf),
      u16(attributes.pfNumber, pfNumber),
      u32(attributes.sfNumber, sfNumber),
    ],
  });
  if (answer === undefined) throw malformed(`no port in the answer to "${tried}"`);
  return parsePort(answer);
}

/** `devlink port function set PORT hw_addr ADDRESS`. Drivers refuse it while the function is active (EBUSY). */
export async function setPortAddress(family: GenericFamily, port: DevlinkPortHandle, address: string): Promise<void> {
  await setFunction(family, port, {
    what: `hw_addr ${address}`,
    attribute: bytes(functionAttributes.address, parseHardwareAddress(address)),
  });
}

/** `devlink port function set PORT state active` or `inactive`. Its device appears and disappears later with some drivers. */
export async function setPortState(
  family: GenericFamily,
  port: DevlinkPortHandle,
  state: "inactive" | "active",
): Promise<void> {
  await setFunction(family, port, {
    what: `state ${state}`,
    attribute: bytes(functionAttributes.state, Buffer.of(states.indexOf(state))),
  });
}

/** `devlink port del PORT`. Rejects with the errno of the driver. */
export async function deletePort(family: GenericFamily, port: DevlinkPortHandle): Promise<void> {
  await requestGeneric(family, {
    tried: `delete port ${nameOf(port.handle)}/${port.index}`,
    command: commands.portDelete,
    attributes: encodePort(port),
  });
}

interface FunctionChange {
  readonly what: string;
  readonly attribute: Buffer;
}

async function setFunction(
  family: GenericFamily,
  port: DevlinkPortHandle,
  { what, attribute }: FunctionChange,
): Promise<void> {
  await requestGeneric(family, {
    tried: `set ${what} on port ${nameOf(port.handle)}/${port.index}`,
    command: commands.portSet,
    attributes: [...encodePort(port), nested(attributes.function, [attribute])],
  });
}

function encodePort({ handle, index }: DevlinkPortHandle): readonly Buffer[] {
  return [...encodeHandle(handle), u32(attributes.index, index)];
}

function nameOf({ bus, device }: DevlinkHandle): string {
  return `${bus}/${device}`;
}

function parsePort(answer: readonly Attribute[]): DevlinkPort {
  const index = find(answer, attributes.index);
  const handle = readHandle(answer);
  if (index === undefined || handle === undefined) throw malformed("devlink port without instance or index");
  const number = (type: number, read: (value: Buffer) => number) => {
    const value = find(answer, type);
    return value && read(value);
  };
  const flavour = flavours[number(attributes.flavour, readU16) ?? -1];
  const netdevIndex = number(attributes.netdevIndex, readU32);
  const netdevName = find(answer, attributes.netdevName);
  const portNumber = number(attributes.portNumber, readU32);
  const pfNumber = number(attributes.pfNumber, readU16);
  const sfNumber = number(attributes.sfNumber, readU32);
  const fn = find(answer, attributes.function);
  return {
    handle,
    index: readU32(index),
    isExternal: find(answer, attributes.external)?.[0] === 1,
    ...(flavour !== undefined && { flavour }),
    ...(netdevIndex !== undefined && netdevName && { netdev: { index: netdevIndex, name: readText(netdevName) } }),
    ...(portNumber !== undefined && { portNumber }),
    ...(pfNumber !== undefined && { pfNumber }),
    ...(sfNumber !== undefined && { sfNumber }),
    ...(fn !== undefined && { function: parseFunction(findNested(answer, attributes.function)) }),
  };
}

function parseFunction(fn: readonly Attribute[]): DevlinkPortFunction {
  const address = find(fn, functionAttributes.address);
  const state = states[find(fn, functionAttributes.state)?.[0] ?? -1];
  const operationalState = operationalStates[find(fn, functionAttributes.operationalState)?.[0] ?? -1];
  const instance = readHandle(findNested(fn, functionAttributes.instance));
  return {
    ...(address !== undefined && { address: formatHardwareAddress(address) }),
    ...(state !== undefined && { state }),
    ...(operationalState !== undefined && { operationalState }),
    ...(instance !== undefined && { instance }),
  };
}
