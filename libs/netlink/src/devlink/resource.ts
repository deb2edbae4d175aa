// SPDX-License-Identifier: Apache-2.0
/**
 * listResources reads the resources of a devlink instance, such as the number of its subfunctions (linux/devlink.h).
 * Usage: `const family = await resolveFamily(socket, devlinkFamily); await listResources(family, handle)`.
 */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { find, findNested, parseAttributes, readText, readU64 } from "../wire/attributes.ts";
import { encodeHandle, type DevlinkHandle } from "./handle.ts";

/** A resource without the parts that it consists of. */
export interface DevlinkResource {
  /** "max_local_SFs" in mlx5. */
  readonly name: string;
  readonly size: number;
  /** What is in use; absent if the driver does not count it. */
  readonly occupied?: number;
}

const resourceDump = 36;
const attributes = { list: 63, name: 65, size: 67, occupied: 74 };

/** `devlink resource show BUS/DEVICE`. Rejects with ENODEV without such an instance, EOPNOTSUPP if it has no resources. */
export async function listResources(family: GenericFamily, handle: DevlinkHandle): Promise<readonly DevlinkResource[]> {
  const answers = await requestGeneric(family, {
    tried: `list resources of ${handle.bus}/${handle.device}`,
    command: resourceDump,
    attributes: encodeHandle(handle),
  });
  return answers
    .flatMap((answer) => findNested(answer, attributes.list))
    .flatMap(({ value }) => {
      const resource = parseAttributes(value);
      const name = find(resource, attributes.name);
      const size = find(resource, attributes.size);
      const occupied = find(resource, attributes.occupied);
      if (name === undefined || size === undefined) return [];
      return [{ name: readText(name), size: readU64(size), ...(occupied && { occupied: readU64(occupied) }) }];
    });
}
