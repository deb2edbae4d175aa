// SPDX-License-Identifier: Apache-2.0
/**
 * listHealthReporters reads the health reporters of a devlink instance and of its ports (linux/devlink.h), such as "fw_fatal" of
 * mlx5_core. A reporter is in error from a failure until the driver has recovered from it. `devlink health show BUS/DEVICE`.
 */
import { dumpGeneric, type GenericFamily } from "../generic-netlink.ts";
import { find, findNested, readText } from "../wire/attributes.ts";
import { encodeHandle, readHandle, type DevlinkHandle } from "./devlink.ts";

export interface HealthReporter {
  /** "fw_fatal". A reporter of a port can have the name of one of the device. */
  readonly name: string;
  readonly state: "healthy" | "error";
}

const healthReporterGet = 52;

const attributes = { reporter: 114, name: 115, state: 116 };

/** Returns an empty list for an instance without reporters, and for one that does not exist: it is a dump of all. */
export async function listHealthReporters(
  family: GenericFamily,
  handle: DevlinkHandle,
): Promise<readonly HealthReporter[]> {
  const answers = await dumpGeneric(family, {
    tried: `list health reporters of ${handle.bus}/${handle.device}`,
    command: healthReporterGet,
    attributes: encodeHandle(handle),
  });
  return answers.flatMap((answer) => {
    const of = readHandle(answer); // kernels before 6.5 ignore the handle of the request
    if (of?.bus !== handle.bus || of.device !== handle.device) return [];
    const reporter = findNested(answer, attributes.reporter);
    const [name, state] = [find(reporter, attributes.name), find(reporter, attributes.state)];
    if (name === undefined || state === undefined) return [];
    return [{ name: readText(name), state: state[0] === 0 ? "healthy" : "error" }];
  });
}
