// SPDX-License-Identifier: Apache-2.0
/**
 * recordUpstreamDevices and the other functions keep one file for each device that the plugin of upstream was given, in
 * /var/lib/switchyard/upstream-devices. It is written before the device is in the configuration of the plugin, and removed when the
 * plugin does not serve the device any more and has left nothing. So it is the evidence that something is a leftover of the plugin.
 * Usage: `await recordUpstreamDevices("/", [{ device: "0000:86:00.0", name: "ens1", poolName: "fast" }], bootId);`
 */
import { defined, isInterfaceName, upstreamDeviceDirectory } from "@switchyard/api";
import { join } from "node:path";
import type { UpstreamDevice } from "../../ports/plugin-leftovers.ts";
import { parseAfxdpDevice } from "../records/afxdp-record-file.ts";
import {
  createRecordDirectory,
  have,
  isFields,
  parseJson,
  type RecordDirectory,
  type UnreadableRecord,
} from "../records/record-directory.ts";

/** A UUID, as part of a regular expression. */
export const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** Directories of the plugin on the host: for BPF file systems, and for sockets. */
export const pluginDirectories = { mounts: "/run/afxdp_dp", sockets: "/tmp/afxdp_dp" } as const;

const pool = "[a-zA-Z0-9]{1,20}";

const poolName = new RegExp(`^${pool}$`);

const mount = new RegExp(`^${pluginDirectories.mounts}/(${pool})/${uuid}$`);

const socket = new RegExp(`^${pluginDirectories.sockets}/afxdp_(${pool})/${uuid}\\.sock$`);

/** A device that the plugin is about to get. */
export interface GivenDevice extends Pick<UpstreamDevice, "device" | "programBefore"> {
  readonly name: string;
  readonly poolName: string;
}

/** Limits the size of the file if something renames the device or its pool again and again. */
const maxEntries = 16;

/** Writes what is not recorded yet. `root` contains var/lib. Rejects with errors of system calls. */
export async function recordUpstreamDevices(
  root: string,
  given: readonly GivenDevice[],
  bootId: string,
): Promise<void> {
  const files = upstreamDeviceRecords(root);
  const records = given.length === 0 ? new Map<string, UpstreamDevice>() : await files.list();
  for (const one of given) {
    const before = records.get(one.device);
    const after = recordOf(one, before, bootId);
    const text = formatUpstreamDevice(after);
    if (parseUpstreamDevice(text) === undefined) continue; // its name would be a path, for example
    if (before === undefined || text !== formatUpstreamDevice(before)) await files.save(one.device, text);
  }
}

/** The files. A file that is not a record is left out and passed to `onUnreadable`: what the plugin left is not known then. */
export function upstreamDeviceRecords(
  root: string,
  onUnreadable: (file: UnreadableRecord) => void = () => undefined,
): RecordDirectory<string, UpstreamDevice> {
  return createRecordDirectory<string, UpstreamDevice>(join(root, upstreamDeviceDirectory), {
    parseName: parseAfxdpDevice,
    parse(text) {
      const parsed = parseUpstreamDevice(text);
      return parsed === undefined ? { ok: false, error: { code: "not-a-record" } } : { ok: true, value: parsed };
    },
    isOf: ({ device }, name) => device === name,
    onUnreadable,
  });
}

export function formatUpstreamDevice(record: UpstreamDevice): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Returns undefined for a text that is not a record. */
export function parseUpstreamDevice(text: string): UpstreamDevice | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isUpstreamDevice(parsed.value) ? parsed.value : undefined;
}

/** In the same boot, the program that the device has now may be the plugin's, so the one before it counts. */
function recordOf(given: GivenDevice, before: UpstreamDevice | undefined, bootId: string): UpstreamDevice {
  const { device, name, poolName } = given;
  const { programBefore } = before?.bootId === bootId ? before : given;
  const including = (one: string, all: readonly string[] = []) =>
    all[0] === one ? all : [one, ...all.filter((each) => each !== one)].slice(0, maxEntries);
  return {
    device,
    bootId,
    ...defined({ programBefore }),
    names: including(name, before?.names),
    pools: including(poolName, before?.pools),
  };
}

function isUpstreamDevice(value: unknown): value is UpstreamDevice {
  if (!isFields(value)) return false;
  const { device, bootId, names, pools } = value;
  return (
    typeof device === "string" &&
    parseAfxdpDevice(device) !== undefined &&
    typeof bootId === "string" &&
    have(value, "number", ["programBefore"]) &&
    isTexts(names, isInterfaceName) &&
    isTexts(pools, isPluginPool)
  );
}

function isTexts(value: unknown, isValid: (text: string) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string" && isValid(one));
}

/** Whether the plugin accepts the name of a pool. Only such names are parts of paths. */
export function isPluginPool(name: string): boolean {
  return poolName.test(name);
}

/**
 * parsePluginMount and parsePluginSocket recognise the paths of the plugin of upstream (eve-and-afxdp.md b1). Everything else in
 * these directories belongs to others. Returns the pool of a mount; undefined for another path.
 */
export function parsePluginMount(path: string): string | undefined {
  return mount.exec(path)?.[1];
}

/** Returns the pool of a socket; undefined for another path. */
export function parsePluginSocket(path: string): string | undefined {
  return socket.exec(path)?.[1];
}
