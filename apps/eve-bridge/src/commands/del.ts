// SPDX-License-Identifier: Apache-2.0
/** DEL removes an interface. It can be repeated, and it succeeds when nothing is left to remove. */
import { killOrphans } from "../delegates/orphans.ts";
import { parseCniArgs } from "../request/cni-args.ts";
import { CniError, describe } from "../request/cni-error.ts";
import { clusterInterface, type CniRequest } from "../request/request.ts";
import { lockOf, readRecord, removeRecord, type AttachmentRecord } from "../state/attachment-record.ts";
import { acquireLock, type OwnerLock } from "../state/owner-lock.ts";
import { waitFor, type Call } from "../state/call.ts";

const orphanMs = 5_000;

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

/**
 * teardown removes an interface, for DEL, GC and a failed ADD. Every step can be repeated.
 * Removes the interface. `record` is undefined for an interface that EVE's Go plugin made.
 */
export async function teardown(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  const { env } = call.request;
  if (record !== undefined && record.step !== "connected") {
    const killed = await killOrphans(env, waitFor(call, orphanMs));
    if (killed > 0) call.log.info("killed plugins of an earlier call", { killed });
  }
  if (env.ifName === clusterInterface) {
    const { deleteClusterInterface } = await import("../delegates/cluster-interface.ts");
    await deleteClusterInterface(call, record);
  } else {
    const { disconnect } = await import("../zedrouter/disconnect.ts");
    await disconnect(call, record);
  }
}
