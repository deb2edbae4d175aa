// SPDX-License-Identifier: Apache-2.0
/**
 * getEswitchMode and setEswitchMode read and change the mode of a NIC's embedded switch by devlink (linux/devlink.h). A
 * change keeps the inline mode and the encapsulation mode of the switch.
 * Usage: `const family = await resolveFamily(socket, devlinkFamily); await getEswitchMode(family, handle)`.
 */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import { find, readU16, u16 } from "../wire/attributes.ts";
import { encodeHandle, type DevlinkHandle } from "./handle.ts";

export type EswitchMode = "legacy" | "switchdev";

const commands = { eswitchGet: 29, eswitchSet: 30 };
const attributes = { eswitchMode: 25 };
const modes: readonly EswitchMode[] = ["legacy", "switchdev"]; // indexed by their number

/** `devlink dev eswitch show BUS/DEVICE`. Rejects with ENODEV without such an instance, EOPNOTSUPP without an eswitch. */
export async function getEswitchMode(family: GenericFamily, handle: DevlinkHandle): Promise<EswitchMode> {
  const [answer] = await requestGeneric(family, {
    tried: `read eswitch mode of ${handle.bus}/${handle.device}`,
    command: commands.eswitchGet,
    attributes: encodeHandle(handle),
  });
  const value = find(answer ?? [], attributes.eswitchMode);
  const mode = value && modes[readU16(value)];
  if (mode === undefined) throw malformed(`eswitch mode ${value?.toString("hex") ?? "missing"}`);
  return mode;
}

/** `devlink dev eswitch set BUS/DEVICE mode MODE`. Can take seconds for each VF. */
export async function setEswitchMode(family: GenericFamily, handle: DevlinkHandle, mode: EswitchMode): Promise<void> {
  await requestGeneric(family, {
    tried: `set eswitch mode ${mode} on ${handle.bus}/${handle.device}`,
    command: commands.eswitchSet,
    attributes: [...encodeHandle(handle), u16(attributes.eswitchMode, modes.indexOf(mode))],
  });
}
