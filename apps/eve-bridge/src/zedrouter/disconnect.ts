// SPDX-License-Identifier: Apache-2.0
/**
 * disconnect removes an interface from its network instance: it releases the lease while the interface can still
 * send, then asks zedrouter to remove the interface (eve-and-afxdp.md a4, a9).
 */
import { statSync } from "node:fs";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { logged, waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { deadlineIn, nowMs } from "../process/deadline.ts";
import { releaseLease } from "../delegates/dhcp-lease.ts";
import { deleteVeth } from "../network/pod-network.ts";
import { markRemoved, wasRemoved } from "../state/removal-mark.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { connectZedrouter, podInterfaceOf, type ZedrouterConnection } from "./zedrouter-connection.ts";

/** Throws zedrouter's error, or code 11 if zedrouter is not reachable or the lease could not be released. */
export async function disconnect(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  const pod = podInterfaceOf(call.request, record?.netns);
  if (pod.podName === "") {
    // ADD refuses an empty pod name. zedrouter searches by parts of the name, so it might find any application.
    call.log.info("CNI_ARGS contains no pod name, and there is no record; releasing what has the container's name");
    await releaseUnnamed(call);
    return;
  }
  const mayHaveLease = !isVirtualMachine(call.request.args) && (record?.lease ?? true);
  let failure = mayHaveLease ? await tryRelease(call) : undefined;

  const zedrouter = await connectUnlessNothingIsLeft(call, record);
  if (zedrouter === undefined) return;
  let usedDhcp: boolean;
  try {
    ({ usedDhcp } = await logged(call, "RPC DisconnectPod", () =>
      zedrouter.disconnect(pod, waitFor(call, call.timeouts.rpc)),
    ));
  } finally {
    zedrouter.close();
  }
  markRemoved(call.settings.stateDir, call.request.env);
  // The daemon may have obtained the lease during the first attempt. The interface is removed, so no other lease follows.
  if (record?.step === "leasing") failure = await tryRelease(call);
  // Without a record, zedrouter's answer says whether the network instance uses DHCP.
  if (failure === undefined || !(record?.lease ?? usedDhcp)) return;
  throw new CniError(cniCode.tryAgain, "the interface is removed, but its DHCP lease could not be released", {
    details: describe(failure),
    cause: failure,
  });
}

/**
 * Without the pod's name, zedrouter cannot be asked. The DHCP daemon knows the lease by network, container and interface, and the
 * interface is in the pod's namespace.
 */
async function releaseUnnamed(call: Call): Promise<void> {
  const { env } = call.request;
  const failure = await tryRelease(call);
  if (failure !== undefined) call.log.error("the lease could not be released", { error: describe(failure) });
  const netns = env.netns === "" ? undefined : statSync(env.netns, { throwIfNoEntry: false });
  const own = statSync("/proc/self/ns/net");
  if (netns === undefined || (netns.ino === own.ino && netns.dev === own.dev)) return;
  try {
    const isDeleted = await deleteVeth(env.netns, env.ifName, waitFor(call, call.timeouts.rpc));
    if (isDeleted) call.log.info("deleted the interface; zedrouter keeps its entry until the application ends");
  } catch (error) {
    // The namespace goes with the pod, and takes the interface with it.
    call.log.error("the interface could not be deleted", { error: describe(error) });
  }
}

/** Returns the failure, which counts only if there was a lease. Takes at most half of the remaining time. */
async function tryRelease(call: Call): Promise<unknown> {
  const half = (call.deadline.endMs - nowMs()) / 2;
  try {
    await releaseLease({ ...call, deadline: deadlineIn(half) });
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Returns undefined if zedrouter is not reachable and the interface is marked as removed. Without a record and without a
 * mark, only zedrouter knows whether the interface exists: it keeps the connection when the pod's namespace is deleted.
 */
async function connectUnlessNothingIsLeft(
  call: Call,
  record: AttachmentRecord | undefined,
): Promise<ZedrouterConnection | undefined> {
  const { env } = call.request;
  try {
    return await connectZedrouter(call);
  } catch (error) {
    if (record !== undefined) throw error;
    if (wasRemoved(call.settings.stateDir, env)) {
      call.log.info("zedrouter is not reachable; the interface was removed earlier");
      return undefined;
    }
    const { code } = toCniError(error);
    const message = `cannot delete ${env.ifName}: zedrouter is not reachable, and there is no record of the interface`;
    const details = `${describe(error)}; zedrouter may still have the interface: start zedrouter, then repeat the DEL`;
    throw new CniError(code, message, { details, cause: error });
  }
}
