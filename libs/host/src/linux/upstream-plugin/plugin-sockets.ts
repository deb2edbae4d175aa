// SPDX-License-Identifier: Apache-2.0
/**
 * listPluginSockets and removeUnusedSockets find and remove the sockets that the plugin of upstream left for pods. It
 * makes one for each container that gets devices, and leaves it when it ends before a program has connected
 * (eve-and-afxdp.md b1). A socket is unused if the kubelet says that no pod has a device of its pool. The socket of a
 * container that is just being created is younger than the answer of the kubelet, so young ones stay.
 * Usage: `await removeUnusedSockets({ directory: "/tmp/afxdp_dp", pools: new Set(["intel"]), held, ageOf: createFileAges() });`
 */
import { isErrno, type FileAge } from "@switchyard/service";
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { uuid } from "./upstream-device-record.ts";

export interface UnusedSockets {
  /** Directory of the plugin for sockets. */
  readonly directory: string;
  /** Names of the pools that Switchyard has configured. Files of others are not touched. */
  readonly pools: ReadonlySet<string>;
  /** Names of the pools of which pods have devices. */
  readonly held: ReadonlySet<string>;
  /** Returns the ages of files. */
  readonly ageOf: FileAge;
}

/** A socket of a pool. */
export interface PluginSocket {
  readonly path: string;
  /** Whether it may belong to a container of which the kubelet does not know yet. */
  readonly isYoung: boolean;
}

const leastAgeMs = 120_000;
const socketName = new RegExp(`^${uuid}\\.sock$`);

/** Returns the paths of the sockets that it has removed. */
export async function removeUnusedSockets({
  directory,
  pools,
  held,
  ageOf,
}: UnusedSockets): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const pool of [...pools].filter((name) => !held.has(name))) {
    for (const { path, isYoung } of await listPluginSockets(pool, { directory, ageOf })) {
      if (isYoung) continue;
      await removePluginSocket(path);
      removed.push(path);
    }
  }
  return removed;
}

/** Sorted. Other files are left out. */
export async function listPluginSockets(
  pool: string,
  { directory, ageOf }: Pick<UnusedSockets, "directory" | "ageOf">,
): Promise<readonly PluginSocket[]> {
  const ofPool = join(directory, `afxdp_${pool}`);
  const sockets: PluginSocket[] = [];
  for (const name of (await namesIn(ofPool)).filter((each) => socketName.test(each)).sort()) {
    const path = join(ofPool, name);
    const file = await lstat(path);
    if (file.isSocket()) sockets.push({ path, isYoung: ageOf(path, file.ctimeMs) < leastAgeMs });
  }
  return sockets;
}

/** Also removes the directory of the pool if it is empty then. No error if the socket does not exist. */
export async function removePluginSocket(path: string): Promise<void> {
  await rm(path, { force: true });
  await removeEmpty(dirname(path));
}

/** Removes a directory. No error if it is not empty or does not exist. */
export async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!isErrno(error, "ENOTEMPTY", "ENOENT", "ENOTDIR")) throw error;
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
