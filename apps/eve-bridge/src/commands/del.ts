// SPDX-License-Identifier: Apache-2.0
/**
 * DEL removes an interface. It can be repeated, and it succeeds when nothing is left to remove.
 * Usage: `await del(call)`.
 */
import { lockOf, readRecord, removeRecord } from "../state/attachment-record.ts";
import { waitFor, type Call } from "./call.ts";
import { CniError, describe } from "../request/cni-error.ts";
import { parseCniArgs } from "../request/cni-args.ts";
import { acquireLock, type OwnerLock } from "../state/owner-lock.ts";
import type { CniRequest } from "../request/request.ts";
import { teardown } from "./teardown.ts";

/** Throws when something may be left; the runtime then repeats the DEL. */
export async function del(call: Call): Promise<void> {
  const { env } = call.request;
  const { stateDir } = call.settings;
  const lock = await lockIfPossible(call);
  try {
    const record = readRecord(stateDir, env);
    // A runtime may call DEL without the CNI_ARGS of the ADD.
    const args = call.request.args.podName === "" && record ? parseCniArgs(record.args) : call.request.args;
    const request: CniRequest = { ...call.request, args };
    await teardown({ ...call, request }, record);
    removeRecord(stateDir, env);
  } finally {
    lock?.release();
  }
}

/**
 * Returns undefined if the lock cannot be created: a full or read-only /run stops ADD, but must not block the deletion
 * of pods.
 */
async function lockIfPossible(call: Call): Promise<OwnerLock | undefined> {
  const wait = waitFor(call, call.timeouts.lock);
  try {
    return await acquireLock(lockOf(call.settings.stateDir, call.request.env), wait);
  } catch (error) {
    if (error instanceof CniError) throw error;
    call.log.error("cannot take the lock; continuing without it", { error: describe(error) });
    return undefined;
  }
}
