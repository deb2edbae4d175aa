// SPDX-License-Identifier: Apache-2.0
/** What all requests of the devlink family share (linux/devlink.h). */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import {
  bytes,
  find,
  findNested,
  parseAttributes,
  readText,
  readU16,
  readU64,
  text,
  u16,
  type Attribute,
} from "../wire/attributes.ts";

/** Name of the devlink family for resolveFamily. */
export const devlinkFamily = "devlink";

/** A devlink instance: bus "pci", device "0000:06:00.0". */
export interface DevlinkHandle {
  readonly bus: string;
  readonly device: string;
}

const handleAttributes = { busName: 1, deviceName: 2 };

export function encodeHandle({ bus, device }: DevlinkHandle): readonly Buffer[] {
  return [text(handleAttributes.busName, bus), text(handleAttributes.deviceName, device)];
}

/** Returns the instance that a message or a nested attribute names, or undefined if it names none. */
export function readHandle(attributesOf: readonly Attribute[]): DevlinkHandle | undefined {
  const [bus, device] = [find(attributesOf, handleAttributes.busName), find(attributesOf, handleAttributes.deviceName)];
  return bus && device && { bus: readText(bus), device: readText(device) };
}

export type EswitchMode = "legacy" | "switchdev";

const eswitchCommands = { eswitchGet: 29, eswitchSet: 30 };

const eswitchAttributes = { eswitchMode: 25 };

const modes: readonly EswitchMode[] = ["legacy", "switchdev"]; // indexed by their number

/**
 * getEswitchMode and setEswitchMode read and change the mode of a NIC's embedded switch by devlink (linux/devlink.h). A change
 * keeps the inline mode and the encapsulation mode of the switch. `devlink dev eswitch show BUS/DEVICE`. Rejects with ENODEV
 * without such an instance, EOPNOTSUPP without an eswitch.
 */
export async function getEswitchMode(family: GenericFamily, handle: DevlinkHandle): Promise<EswitchMode> {
  const [answer] = await requestGeneric(family, {
    tried: `read eswitch mode of ${handle.bus}/${handle.device}`,
    command: eswitchCommands.eswitchGet,
    attributes: encodeHandle(handle),
  });
  const value = find(answer ?? [], eswitchAttributes.eswitchMode);
  const mode = value && modes[readU16(value)];
  if (mode === undefined) throw malformed(`eswitch mode ${value?.toString("hex") ?? "missing"}`);
  return mode;
}

/** `devlink dev eswitch set BUS/DEVICE mode MODE`. Can take seconds for each VF. */
export async function setEswitchMode(family: GenericFamily, handle: DevlinkHandle, mode: EswitchMode): Promise<void> {
  await requestGeneric(family, {
    tried: `set eswitch mode ${mode} on ${handle.bus}/${handle.device}`,
    command: eswitchCommands.eswitchSet,
    attributes: [...encodeHandle(handle), u16(eswitchAttributes.eswitchMode, modes.indexOf(mode))],
  });
}

const parameterCommands = { reload: 37, parameterGet: 38, parameterSet: 39 };

const parameterAttributes = { parameter: 80, name: 81, type: 83, valuesList: 84, data: 86, configurationMode: 87 };

/** DEVLINK_PARAM_CMODE_RUNTIME: the value has effect at once, and until the driver is unbound. */
const runtime = 0;

/** DEVLINK_PARAM_CMODE_DRIVERINIT: the value has effect after the next reload of the instance. */
const driverInit = 1;

const [nlaString, nlaFlag] = [5, 6];

/**
 * Reads and changes parameters of drivers by devlink (linux/devlink.h), such as "flow_steering_mode" of mlx5_core, which has a text,
 * and "enable_eth", which is a flag.
 * `devlink dev param show BUS/DEVICE name NAME`. Returns the value that has effect now, or undefined if the parameter has
 * none. Rejects with ENODEV without such an instance, EINVAL if the driver does not have the parameter.
 */
export async function getTextParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  name: string,
): Promise<string | undefined> {
  const { type, valueIn } = await readParameter(family, handle, name);
  if (type !== nlaString) throw malformed(`parameter ${name} of type ${type ?? "missing"}`);
  const data = find(valueIn(runtime) ?? [], parameterAttributes.data);
  return data === undefined ? undefined : readText(data);
}

/** `devlink dev param set BUS/DEVICE name NAME value VALUE cmode runtime`. Rejects with the errno of the driver. */
export async function setTextParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  const data = [text(parameterAttributes.data, value)];
  await setParameter(family, handle, { name, value, type: nlaString, mode: runtime, data });
}

/**
 * Returns the value that a parameter has after the next reload; undefined if it is no flag of this kind. Rejects as
 * getTextParameter.
 */
export async function getFlagParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  name: string,
): Promise<boolean | undefined> {
  const { type, valueIn } = await readParameter(family, handle, name);
  const value = type === nlaFlag ? valueIn(driverInit) : undefined;
  return value && find(value, parameterAttributes.data) !== undefined;
}

/** `devlink dev param set BUS/DEVICE name NAME value true|false cmode driverinit`. It has effect after reloadInstance(). */
export async function setFlagParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  { name, value }: { readonly name: string; readonly value: boolean },
): Promise<void> {
  const data = value ? [bytes(parameterAttributes.data, Buffer.alloc(0))] : [];
  await setParameter(family, handle, { name, value, type: nlaFlag, mode: driverInit, data });
}

/** Returns the type of a parameter, and the attributes of its value in a configuration mode. */
async function readParameter(family: GenericFamily, handle: DevlinkHandle, name: string) {
  const [answer] = await requestGeneric(family, {
    tried: `read parameter ${name} of ${handle.bus}/${handle.device}`,
    command: parameterCommands.parameterGet,
    attributes: [...encodeHandle(handle), text(parameterAttributes.name, name)],
  });
  const parameter = findNested(answer ?? [], parameterAttributes.parameter);
  const values = findNested(parameter, parameterAttributes.valuesList).map(({ value }) => parseAttributes(value));
  return {
    type: find(parameter, parameterAttributes.type)?.[0],
    valueIn: (mode: number) => values.find((each) => find(each, parameterAttributes.configurationMode)?.[0] === mode),
  };
}

interface NewParameter {
  readonly name: string;
  /** For the error. */
  readonly value: string | boolean;
  readonly type: number;
  readonly mode: number;
  readonly data: readonly Buffer[];
}

async function setParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  { name, value, type, mode, data }: NewParameter,
): Promise<void> {
  await requestGeneric(family, {
    tried: `set parameter ${name} ${value} on ${handle.bus}/${handle.device}`,
    command: parameterCommands.parameterSet,
    attributes: [
      ...encodeHandle(handle),
      text(parameterAttributes.name, name),
      bytes(parameterAttributes.type, Buffer.of(type)),
      bytes(parameterAttributes.configurationMode, Buffer.of(mode)),
      ...data,
    ],
  });
}

/** `devlink dev reload BUS/DEVICE`: the driver initialises the device again, with its present parameters. */
export async function reloadInstance(family: GenericFamily, handle: DevlinkHandle): Promise<void> {
  await requestGeneric(family, {
    tried: `reload ${handle.bus}/${handle.device}`,
    command: parameterCommands.reload,
    attributes: encodeHandle(handle),
  });
}

/** A resource without the parts that it consists of. */
export interface DevlinkResource {
  /** "max_local_SFs" in mlx5. */
  readonly name: string;
  readonly size: number;
  /** What is in use; absent if the driver does not count it. */
  readonly occupied?: number;
}

const resourceDump = 36;

const resourceAttributes = { list: 63, name: 65, size: 67, occupied: 74 };

/**
 * listResources reads the resources of a devlink instance, such as the number of its subfunctions (linux/devlink.h). `devlink
 * resource show BUS/DEVICE`. Rejects with ENODEV without such an instance, EOPNOTSUPP if it has no resources.
 */
export async function listResources(family: GenericFamily, handle: DevlinkHandle): Promise<readonly DevlinkResource[]> {
  const answers = await requestGeneric(family, {
    tried: `list resources of ${handle.bus}/${handle.device}`,
    command: resourceDump,
    attributes: encodeHandle(handle),
  });
  return answers
    .flatMap((answer) => findNested(answer, resourceAttributes.list))
    .flatMap(({ value }) => {
      const resource = parseAttributes(value);
      const name = find(resource, resourceAttributes.name);
      const size = find(resource, resourceAttributes.size);
      const occupied = find(resource, resourceAttributes.occupied);
      if (name === undefined || size === undefined) return [];
      return [{ name: readText(name), size: readU64(size), ...(occupied && { occupied: readU64(occupied) }) }];
    });
}
