// SPDX-License-Identifier: Apache-2.0
/**
 * openRecord and writeRecord keep the pools of the node in a file, so that a restarted plugin serves running pods
 * without the API server. The file has the names of devices that are in pods, the devices that are yet to be released, the
 * leases and the pools themselves. Records of earlier versions have no ids, as the name of a device was its id, and no leases.
 */
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isInterfaceName, parseLimitedJson } from "@switchyard/api";
import { isErrno, makeDirectory, type Logger } from "@switchyard/service";
import type { Lease } from "./leases.ts";
import { isDeviceId, type DeviceId } from "./pools/device.ts";
import { isPoolName, type NodePool, type PoolDevice } from "./pools/node-pools.ts";

export interface PluginRecord {
  readonly pools: readonly NodePool[];
  /**
   * Devices that are in no pool any longer, or in one by which a pod would not reach them, and that have not been released. They
   * are served by the pool that they were in.
   */
  readonly retired: readonly RetiredDevice[];
  /** Devices that pods have, or had until the last look. */
  readonly leases: readonly Lease[];
}

export interface RetiredDevice extends DeviceId {
  /** The pool in which it was. */
  readonly pool: Pick<NodePool, "name" | "uid" | "idleTimeoutMs" | "hasPinnedMap" | "hasSocket">;
}

const emptyRecord: PluginRecord = { pools: [], retired: [], leases: [] };

/**
 * Returns an empty record without a file. A file that writeRecord did not write, or that belongs to another user, is moved away: a full
 * disk can cut it off. The node state has the pools, too. Rejects with other errors of Node.
 */
export async function openRecord(path: string, log: Pick<Logger, "warn">): Promise<PluginRecord> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return emptyRecord;
    if (!isErrno(error, "EISDIR", "EACCES", "EPERM", "EIO")) throw error;
    text = "";
  }
  const record = parseRecord(text);
  if (record !== undefined) return record;
  const kept = `${path}.unreadable`;
  try {
    await rm(kept, { recursive: true, force: true });
    await rename(path, kept);
    log.warn({ path, kept }, "the record of the plugin is not readable; pools are taken from the node state");
  } catch (error) {
    log.warn({ path, error }, "the record of the plugin is neither readable nor can it be moved; it is not used");
  }
  return emptyRecord;
}

/** Replaces the file atomically, and resolves when it survives a power failure. */
export async function writeRecord(path: string, record: PluginRecord): Promise<void> {
  await makeDirectory(dirname(path));
  const beside = `${path}.new`;
  await rm(beside, { recursive: true, force: true }); // of a process that was killed, or of somebody else
  const file = await open(beside, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

function parseRecord(text: string): PluginRecord | undefined {
  try {
    const record = parseLimitedJson(text);
    if (!isRecord(record)) return undefined;
    const { leases = [] } = record;
    const pools = record.pools.map((pool) => ({ ...pool, devices: pool.devices.map(withId) }));
    return { pools, retired: record.retired.map(withId), leases };
  } catch {
    return undefined;
  }
}

type WithoutId<Device> = Omit<Device, "id"> & { readonly id?: string };

interface ReadRecord {
  readonly pools: readonly ReadPool[];
  readonly retired: readonly WithoutId<RetiredDevice>[];
  readonly leases?: readonly Lease[];
}

type ReadPool = Omit<NodePool, "devices"> & { readonly devices: readonly WithoutId<PoolDevice>[] };

function withId<Device extends { readonly id?: string; readonly name: string }>(device: Device) {
  return { ...device, id: device.id ?? device.name };
}

function isRecord(value: unknown): value is ReadRecord {
  if (!hasFields(value, "pools", "retired")) return false;
  const { pools, retired } = value;
  const leases = hasFields(value, "leases") ? value.leases : [];
  if (!Array.isArray(leases) || !leases.every(isLease)) return false;
  return Array.isArray(pools) && pools.every(isPool) && Array.isArray(retired) && retired.every(isRetired);
}

function isPool(value: unknown): value is ReadPool {
  return (
    isSettings(value) && hasFields(value, "devices") && Array.isArray(value.devices) && value.devices.every(isDevice)
  );
}

function isRetired(value: unknown): value is WithoutId<RetiredDevice> {
  return hasFields(value, "name", "pool") && isNamed(value) && isSettings(value.pool);
}

function isLease(value: unknown): value is Lease {
  return (
    hasFields(value, "id", "name", "before", "seen", "wasAway") &&
    isNamed(value) &&
    [value.before, value.seen].every((ids) => Array.isArray(ids) && ids.every(isCount)) &&
    typeof value.wasAway === "boolean"
  );
}

function isSettings(value: unknown): value is Omit<NodePool, "devices"> {
  if (!hasFields(value, "name", "uid", "idleTimeoutMs", "hasPinnedMap", "hasSocket")) return false;
  const isFlags = typeof value.hasPinnedMap === "boolean" && typeof value.hasSocket === "boolean";
  return (
    typeof value.name === "string" &&
    isPoolName(value.name) &&
    isCount(value.uid) &&
    isCount(value.idleTimeoutMs) &&
    isFlags
  );
}

function isDevice(value: unknown): value is WithoutId<PoolDevice> {
  return (
    hasFields(value, "name", "key", "queues") &&
    isNamed(value) &&
    typeof value.key === "string" &&
    isCount(value.queues)
  );
}

function isNamed(value: { readonly name: unknown }): boolean {
  const isId = !hasFields(value, "id") || (typeof value.id === "string" && isDeviceId(value.id));
  return isId && typeof value.name === "string" && isInterfaceName(value.name);
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function hasFields<Name extends string>(value: unknown, ...names: readonly Name[]): value is Record<Name, unknown> {
  return typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));
}
