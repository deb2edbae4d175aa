// SPDX-License-Identifier: Apache-2.0
/**
 * Takes an interface out of its network instance: gives the lease back while the interface can still send, then has
 * zedrouter remove it (eve-and-afxdp.md a4, a9).
 * Usage: `await disconnect(call, record)`.
 */
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { logged, waitFor, type Call } from "../commands/call.ts";
import { CniError, cniCode, describe, toCniError } from "../request/cni-error.ts";
import { deadlineIn, nowMs } from "../process/deadline.ts";
import { releaseLease } from "../delegates/dhcp-lease.ts";
import { markRemoved, wasRemoved } from "../state/removal-mark.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { connectZedrouter, podInterfaceOf, type ZedrouterConnection } from "./zedrouter-connection.ts";

/** Succeeds when nothing is left. Throws what zedrouter says, code 11 when it is away or a lease could not be released. */
export async function disconnect(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  const pod = podInterfaceOf(call.request, record?.netns);
  if (pod.podName === "") {
    // zedrouter finds applications by parts of the pod's name: an empty one might be any. And ADD refuses it.
    call.log.info("no pod is named, so nothing was connected");
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
  // A lease that the daemon was still asking for has come by now, or never will: the interface is gone.
  if (record?.step === "leasing") failure = await tryRelease(call);
  // Without a record only zedrouter knows whether there was a lease to give back.
  if (failure === undefined || !(record?.lease ?? usedDhcp)) return;
  throw new CniError(cniCode.tryAgain, "the interface is gone, its DHCP lease could not be released", {
    details: describe(failure),
    cause: failure,
  });
}

/** The failure, to be judged when zedrouter has said whether there was a lease. Takes at most half of the time left. */
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
 * undefined when zedrouter is away and we know that there is nothing for it to remove. Of an interface without a record
 * only zedrouter can tell: it keeps the pod's place in the network instance also when the pod's namespace is gone.
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
      call.log.info("zedrouter is away, and the interface was removed before");
      return undefined;
    }
    const { code } = toCniError(error);
    const message = `cannot delete ${env.ifName}: zedrouter is not reachable, and there is no record of the interface`;
    const details = `${describe(error)}; zedrouter may still have it connected: start zedrouter, then repeat the DEL`;
    throw new CniError(code, message, { details, cause: error });
  }
}
