// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and changes parameters of drivers by devlink (linux/devlink.h), such as "flow_steering_mode" of mlx5_core. Only
 * parameters with a text are supported.
 * Usage: `const family = await resolveFamily(socket, devlinkFamily); await getTextParameter(family, handle, "flow_steering_mode")`.
 */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import { bytes, find, findNested, parseAttributes, readText, text } from "../wire/attributes.ts";
import { encodeHandle, type DevlinkHandle } from "./handle.ts";

const commands = { parameterGet: 38, parameterSet: 39 };
const attributes = { parameter: 80, name: 81, type: 83, valuesList: 84, data: 86, configurationMode: 87 };
/** DEVLINK_PARAM_CMODE_RUNTIME: the value has effect at once, and until the driver is unbound. */
const runtime = 0;
const nlaString = 5;

/**
 * `devlink dev param show BUS/DEVICE name NAME`. Returns the value that has effect now, or undefined if the parameter has
 * none. Rejects with ENODEV without such an instance, EINVAL if the driver does not have the parameter.
 */
export async function getTextParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  name: string,
): Promise<string | undefined> {
  const [answer] = await requestGeneric(family, {
    tried: `read parameter ${name} of ${handle.bus}/${handle.device}`,
    command: commands.parameterGet,
    attributes: [...encodeHandle(handle), text(attributes.name, name)],
  });
  const parameter = findNested(answer ?? [], attributes.parameter);
  const [type] = find(parameter, attributes.type) ?? [];
  if (type !== nlaString) throw malformed(`parameter ${name} of type ${type ?? "missing"}`);
  for (const { value } of findNested(parameter, attributes.valuesList)) {
    const entry = parseAttributes(value);
    const data = find(entry, attributes.data);
    if (find(entry, attributes.configurationMode)?.[0] === runtime && data !== undefined) return readText(data);
  }
  return undefined;
}

/** `devlink dev param set BUS/DEVICE name NAME value VALUE cmode runtime`. Rejects with the errno of the driver. */
export async function setTextParameter(
  family: GenericFamily,
  handle: DevlinkHandle,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  await requestGeneric(family, {
    tried: `set parameter ${name} ${value} on ${handle.bus}/${handle.device}`,
    command: commands.parameterSet,
    attributes: [
      ...encodeHandle(handle),
      text(attributes.name, name),
      bytes(attributes.type, Buffer.of(nlaString)),
      bytes(attributes.configurationMode, Buffer.of(runtime)),
      text(attributes.data, value),
    ],
  });
}
