// SPDX-License-Identifier: Apache-2.0
/**
 * teardown removes an interface, for DEL, GC and a failed ADD. Every step can be repeated.
 * Usage: `await teardown(call, readRecord(stateDir, env)); removeRecord(stateDir, env)`.
 */
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { waitFor, type Call } from "./call.ts";
import { killOrphans } from "../delegates/orphans.ts";
import { clusterInterface } from "../request/request.ts";

const orphanMs = 5_000;

/** Removes the interface. `record` is undefined for an interface that EVE's Go plugin made. */
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
