// SPDX-License-Identifier: Apache-2.0
/**
 * removeUnusedSockets removes the sockets that the plugin left for pods: it makes one for each container that gets devices, and leaves it
 * when it ends before a program has connected (eve-and-afxdp.md b1). A socket is unused if the kubelet says that no pod has a device of
 * its pool. The socket of a container that is just being created is younger than the answer of the kubelet, so young ones stay.
 * Usage: `await removeUnusedSockets({ directory: "/tmp/afxdp_dp", pools: new Set(["intel"]), held, nowMs: Date.now() });`
 */
import { isErrno } from "@switchyard/service";
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";

export interface UnusedSockets {
  /** Directory of the plugin for sockets. */
  readonly directory: string;
  /** Names of the pools that this process has configured. Files of others are not touched. */
  readonly pools: ReadonlySet<string>;
  /** Names of the pools of which pods have devices. */
  readonly held: ReadonlySet<string>;
  /** Time since the epoch. */
  readonly nowMs: number;
}

const leastAgeMs = 120_000;
const socketName = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.sock$/;

/** Returns the paths of the sockets that it has removed. */
export async function removeUnusedSockets({
  directory,
  pools,
  held,
  nowMs,
}: UnusedSockets): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const pool of [...pools].filter((name) => !held.has(name))) {
    const ofPool = join(directory, `afxdp_${pool}`);
    for (const name of (await namesIn(ofPool)).filter((each) => socketName.test(each))) {
      const path = join(ofPool, name);
      const file = await stat(path);
      if (!file.isSocket() || nowMs - file.ctimeMs < leastAgeMs) continue;
      await rm(path, { force: true });
      removed.push(path);
    }
    if (removed.length > 0) await removeEmpty(ofPool);
  }
  return removed;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!isErrno(error, "ENOTEMPTY", "ENOENT")) throw error;
  }
}
